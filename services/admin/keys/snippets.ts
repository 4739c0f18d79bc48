import type { ApiKey } from '@tally/access'
import type { ListedEvent } from '@tally/figures'

/** What a program asks for, and the two fields that it prints of each row; by the most useful scope of the key. */
type Asked = { path: string; fields: [string, string]; between: string; hasCounts: boolean }

/** A program that asks the API with a key, to be copied; `id` names its element. */
export type Snippet = { id: string; name: string; hint: string; text: string }

export type Of = {
  apiUrl: string
  key: Pick<ApiKey, 'scopes' | 'eventId'>
  token: string
  /** The first is used if the key is not bound to an event. */
  events: Pick<ListedEvent, 'eventId'>[]
}

/** The programs for a key, complete: with its address, its token and an event. curl is the first. */
export function snippetsOf({ apiUrl, key, token, events }: Of): Snippet[] {
  const eventId = key.eventId ?? events[0]?.eventId ?? 'EVENT_ID'
  const asked = askedBy(key.scopes, eventId)
  const address = `${apiUrl}${asked.path}`
  const all = { apiUrl, eventId, address, token, ...asked }
  const shown = asked.hasCounts ? [...programs, ...programsOfCounts] : programs
  return shown.map(({ write, ...program }) => ({ ...program, text: write(all) }))
}

type Filled = Asked & { apiUrl: string; eventId: string; address: string; token: string }

function askedBy(scopes: ApiKey['scopes'], eventId: string): Asked {
  if (scopes.includes('analytics:read'))
    return {
      path: `/api/v1/events/${eventId}/live/item-counts`,
      fields: ['itemName', 'quantitySold'],
      between: ': ',
      hasCounts: true,
    }
  if (scopes.includes('orders:read'))
    return {
      path: `/api/v1/events/${eventId}/orders`,
      fields: ['orderDateTime', 'totalAmount'],
      between: ' ',
      hasCounts: false,
    }
  return { path: '/api/v1/events', fields: ['id', 'name'], between: ' ', hasCounts: false }
}

const curl = ({ token, address }: Filled): string => `curl -H "X-Api-Key: ${token}" ${address}`

const python = ({ address, token, fields, between }: Filled): string => {
  const { protocol, host, pathname } = new URL(address)
  const connection = protocol === 'https:' ? 'HTTPSConnection' : 'HTTPConnection'
  return `import http.client
import json

connection = http.client.${connection}("${host}", timeout=10)
connection.request("GET", "${pathname}", headers={"X-Api-Key": "${token}"})
answer = json.load(connection.getresponse())
if "data" not in answer:
    raise SystemExit(f"{answer['title']}: {answer['detail']}")
for row in answer["data"]:
    print(f"${fields.map(field => `{row['${field}']}`).join(between)}")`
}

const node = ({
  address,
  token,
  fields,
  between,
}: Filled): string => `const response = await fetch('${address}', {
  headers: { 'X-Api-Key': '${token}' },
  redirect: 'error', // the key would go along
})
const answer = await response.json()
if (!response.ok) throw new Error(\`\${answer.title}: \${answer.detail}\`)
for (const row of answer.data) console.log(\`${fields.map(field => `\${row.${field}}`).join(between)}\`)`

const esp32 = ({ apiUrl, eventId, token }: Filled): string => `#include <Arduino.h>
#include <HTTPClient.h>
#include <WiFi.h>

const char *WIFI_NAME = "…", *WIFI_PASSWORD = "…";
const char *TALLY_URL = "${apiUrl}";${apiUrl.startsWith('https:') ? '  // call http.begin(url, rootCertificate)' : ''}
const char *TALLY_KEY = "${token}";
const char *EVENT_ID = "${eventId}";
const char *MENU_ITEM_ID = "7";

void setup() {
  Serial.begin(115200);
  WiFi.begin(WIFI_NAME, WIFI_PASSWORD);
  while (WiFi.status() != WL_CONNECTED) delay(500);
}

void loop() {
  HTTPClient http;
  http.begin(String(TALLY_URL) + "/api/v1/events/" + EVENT_ID + "/live/item-counts?menuItemIds=" + MENU_ITEM_ID);
  http.addHeader("X-Api-Key", TALLY_KEY);
  int status = http.GET();
  String body = status == 200 ? http.getString() : String();
  int at = body.indexOf("\\"quantitySold\\":");
  if (at >= 0 && body.endsWith("}}")) Serial.printf("Sold: %ld\\n", body.substring(at + 15).toInt());
  else Serial.printf("No answer (%d)\\n", status);
  http.end();
  delay(10000);
}`

const homeAssistant = ({ address, token }: Filled): string => `rest:
  - resource: ${address}
    headers:
      X-Api-Key: ${token}
    scan_interval: 60
    timeout: 10
    sensor:
      - name: Portions sold
        unique_id: tally_portions_sold
        value_template: "{{ value_json.data | sum(attribute='quantitySold') }}"
        availability: "{{ value_json is defined and (value_json.meta | default({}, true)).eventId is defined }}"
        unit_of_measurement: portions
        state_class: measurement`

type Program = Omit<Snippet, 'text'> & { write: (filled: Filled) => string }

const programs: Program[] = [
  { id: 'curl', name: 'curl', hint: 'In a shell, or in the command prompt of Windows.', write: curl },
  { id: 'python', name: 'Python', hint: 'Python 3 needs no library.', write: python },
  { id: 'node', name: 'Node', hint: 'Save it as tally.mjs. Node 20 needs no library.', write: node },
]
const programsOfCounts: Program[] = [
  {
    id: 'esp32',
    name: 'ESP32',
    hint: 'A sketch for Arduino. Fill in your network; the id of an item is in the answer of curl.',
    write: esp32,
  },
  { id: 'home-assistant', name: 'Home Assistant', hint: 'In configuration.yaml.', write: homeAssistant },
]
