// Runs a sketch as a program. Its constants, which people edit, are replaced by this run's values, if it has any.
#include SKETCH

static void replace(const char *&constant, const char *name) {
  const char *value = getenv(name);
  if (value != nullptr && *value != 0) constant = value;
}

int main() {
  replace(TALLY_URL, "TALLY_URL");
  replace(TALLY_KEY, "TALLY_KEY");
  replace(EVENT_ID, "EVENT_ID");
  setup();
  while (true) loop();
}
