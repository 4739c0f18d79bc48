// Runs a sketch as a program. Its constants, which people edit, are replaced by this run's values.
#include SKETCH

int main() {
  TALLY_URL = getenv("TALLY_URL");
  TALLY_KEY = getenv("TALLY_KEY");
  EVENT_ID = getenv("EVENT_ID");
  setup();
  while (true) loop();
}
