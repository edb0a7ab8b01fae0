import { type AssumptionId, assumptions } from '../../src/deployment/assumptions.ts';
import type { OrderEventName } from '../../src/events/order-event.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/internal/json.ts';
import { type ContractDocument, eventDocuments, mainExample } from './documents.ts';

const intro = `# Order events

For the developer of the event handler: each event that the service posts to your \`partner_callback_url\`, when it comes, and every member. This page is generated (\`npm run contract\`) from the schemas, their doc comments and the [ledger](assumptions.md). For other languages the same is in [contract/](../contract/openapi.json).

Every body is signed with the merchant secret followed by the partner secret: see [which key signs](languages.md#the-key). **source** says where a fact comes from: \`published\` ([the contract](assumptions.md#the-contract)), \`reported\` (public documentation of comparable services) or \`assumed\`; the id behind it is an entry of the ledger about that member. A parser may round a JSON number: read the exact digits of money from the text, in TypeScript with \`decimal\` of the handler's context.`;

/** What the ledger says of deliveries, whatever the event. */
const aboutDeliveries: readonly AssumptionId[] = [
  'event-order',
  'order-transitions',
  'callback-reply',
  'callback-retry',
  'event-replay',
  'other-events',
];

const notes: Partial<Record<OrderEventName, string>> = {
  'event.buy.received.fiat_kyc_error':
    'The fiat is paid, and the crypto payment is only `STARTED`; it is reported that the order is held meanwhile. The third-party error has two spellings in the contract, `THIRD_PARTY_ERROR` and `THIRD_PARTY_PAYMENT`: treat both alike. [What to do](guides/kyc-and-refund.md#what-to-do).',
  'buy.event.close':
    'The order is over, and the fiat is paid back. `meta_data.amount_refunded` is text and `fee` a number. Only here `exchange_rate` is text, and the two statuses can hold any text: act on the name of the event, not on the statuses. A close event that is no refund [cannot be read](details/webhooks.md#outcomes). [What to do](guides/kyc-and-refund.md#what-to-do).',
};

/** The forms that `parseOrderEvent` reads besides the documented one. */
const otherForms: readonly (readonly [sent: string, readAs: string])[] = [
  ['no `transactional_kyc`, or null; one of its members absent or null', 'empty texts'],
  ['no `payment_link`', 'null'],
  [
    'no `crypto_txn_hash` (not in `event.buy.credited.crypto`), no `default_kyc_url` of a third-party payment',
    'null',
  ],
  [
    'decimal text for a number (`"15000.50"`): amounts, the rate, `meta_data.fee`',
    'a number; `decimal` has the digits',
  ],
  [
    'a number for text, in `buy.event.close`: `exchange_rate`, `meta_data.amount_refunded`',
    'text, with the digits as sent',
  ],
  [
    'a fixed status, `meta_data.status` or `kyc_error_type` in another case (`paid`)',
    'the documented spelling',
  ],
  ['`event_name` with blanks for dots (`event buy init`)', 'the name with dots'],
];

/** One row of a table of members. */
interface Row {
  readonly member: string;
  readonly cells: readonly string[];
}

/** The page docs/events.md. */
export function eventReference(): string {
  const events = eventDocuments();
  const common = rowsOf(events[0]?.schema).filter(
    (row) =>
      events.filter(({ schema }) => rowsOf(schema).some((other) => isSame(row, other))).length >=
      events.length - 1,
  );
  const sections = [
    intro,
    `| event | when it comes |\n|---|---|\n${events.map(overviewRow).join('\n')}`,
    `## Order and repetition\n\n${table(['known', 'source', 'ledger'], aboutDeliveries.map(deliveryRow))}`,
    '[The states of an order](guides/kyc-and-refund.md#the-states-of-an-order), as a diagram. Store an event before you acknowledge it, and handle it once: [receive events safely](guides/receive-events.md).',
    `## Members of every event\n\nNot of \`event.buy.third_party_error\`, whose body is not shown.\n\n${memberTable(common)}`,
    otherFormsSection(),
    ...events.flatMap((event) => section(event, common)),
  ];
  return `${sections.join('\n\n')}\n`;
}

function otherFormsSection(): string {
  const rows = otherForms.map((cells) => `| ${cells.join(' | ')} |`);
  return `## Other forms that are read

The SDK gives a handler the documented type. It reads these forms too, since they need no guess (ledger: \`event-readings\`):

${table(['sent', 'read as'], rows)}

Each reading stands in \`readings\` of the handler's context and of \`onDelivery\` (path, found, read as). \`body\` stays as it was sent. To refuse such an event, throw in \`onAny\` if \`readings\` is not empty. Nothing is guessed: an event with a missing order id, an unknown status of a payment, or an id or an account that is a number cannot be read, and [is kept or refused](errors.md#event_unrecognized).`;
}

function overviewRow({ name, schema }: ContractDocument): string {
  return `| [\`${name}\`](#${name.replace(/[^\w-]/g, '')}) | ${schema.description} |`;
}

function deliveryRow(id: AssumptionId): string {
  const entry = assumptions.find((each) => each.id === id);
  return `| ${entry?.statement} | ${entry?.basis} | \`${id}\` |`;
}

function section(event: ContractDocument<OrderEventName>, common: readonly Row[]): string[] {
  const note = notes[event.name];
  const rows = rowsOf(event.schema).filter((row) => !common.some((other) => isSame(row, other)));
  const example = `Example, signed with the keys of the vectors: [contract/examples](../contract/examples/${mainExample(event.name)}.json).`;
  return [
    `## ${event.name}`,
    String(event.schema.description),
    ...(note === undefined ? [] : [note]),
    memberTable(rows),
    example,
  ];
}

function isSame(one: Row, other: Row): boolean {
  const { member, cells } = one;
  // Examples may differ.
  return member === other.member && cells.every((cell, index) => index === 2 || cell === other.cells[index]);
}

function memberTable(rows: readonly Row[]): string {
  const titles = ['member', 'type', 'unit', 'example', 'source', 'meaning'];
  return table(
    titles,
    rows.map(({ member, cells }) => `| \`${member}\` | ${cells.join(' | ')} |`),
  );
}

function table(titles: readonly string[], rows: readonly string[]): string {
  return [`| ${titles.join(' | ')} |`, `|${titles.map(() => '---').join('|')}|`, ...rows].join('\n');
}

/** A row for each member, nested ones too. */
function rowsOf(schema: JsonValue | undefined, prefix = ''): Row[] {
  const { properties, required } = isJsonObject(schema) ? objectIn(schema) : {};
  const needed = Array.isArray(required) ? required : [];
  return Object.entries(isJsonObject(properties) ? properties : {}).flatMap(([name, member]) => {
    if (!isJsonObject(member)) return [];
    const absent = needed.includes(name) ? '' : ', or absent';
    const source = [`${member['x-source']}`, ...code(member['x-assumption'])].join(', ');
    const cells = [
      `${typeOf(member)}${absent}`,
      ...[code(member['x-unit']), exampleOf(member), [source]].map((each) => each.join('')),
      String(member.description),
    ];
    return [{ member: `${prefix}${name}`, cells }, ...rowsOf(member, `${prefix}${name}.`)];
  });
}

/** The branch of a nullable object that is one. */
function objectIn(schema: JsonObject): JsonObject {
  const branches = Array.isArray(schema.anyOf) ? schema.anyOf.filter(isJsonObject) : [];
  return branches.find(({ properties }) => properties !== undefined) ?? schema;
}

function typeOf({ const: only, enum: values, type, anyOf, format }: JsonObject): string {
  if (only !== undefined) return `\`${JSON.stringify(only)}\``;
  if (Array.isArray(values)) return values.map((each) => `\`${JSON.stringify(each)}\``).join(' or ');
  const types = Array.isArray(anyOf) ? anyOf.filter(isJsonObject).map((each) => each.type) : [type].flat();
  return `${types.join(' or ')}${format === undefined ? '' : ` (${format})`}`;
}

function exampleOf({ examples, const: only }: JsonObject): string[] {
  if (!Array.isArray(examples) || only !== undefined) return [];
  return code(JSON.stringify(examples[0]));
}

function code(value: JsonValue | undefined): string[] {
  return value === undefined ? [] : [`\`${value}\``];
}
