import type { Described } from '../support/openapi.ts';

/** As much of JSON Schema as the descriptions of the mock server use. */
export type ValueSchema = {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly oneOf?: readonly ValueSchema[];
  readonly items?: ValueSchema;
  readonly properties?: Readonly<Record<string, ValueSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | ValueSchema;
  readonly minItems?: number;
  readonly minProperties?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly pattern?: string;
  readonly format?: string;
};

const TEXTS: Readonly<Record<string, string>> = {
  'date-time': '2030-01-01T00:00:00Z',
  uri: 'http://localhost/x',
  '^[0-9a-f]{40}$': '0123456789abcdef0123456789abcdef01234567',
  '^sha-512=:[A-Za-z0-9+/]{86}==:$': `sha-512=:${'A'.repeat(86)}==:`,
};
const WORDS = ['a', 'one', 'two-2', 'Praha', 'žluťoučký kůň', 'lorem ipsum'];
const OPTIONAL_PROBABILITY = 0.6;

/** Makes a value that a schema allows; the same random numbers make the same one. */
export function makeValue(
  schema: ValueSchema,
  { components }: Described['description'],
  random: () => number,
): unknown {
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  const make = (part: ValueSchema): unknown => {
    if (part.$ref !== undefined) {
      const [kind = '', name = ''] = part.$ref.split('/').slice(2);
      return make(components[kind]?.[name] as ValueSchema);
    }
    if (part.oneOf !== undefined) return make(pick(part.oneOf));
    if (part.enum !== undefined) return pick(part.enum);
    return makeOfType(part, pick([part.type ?? 'object'].flat()));
  };
  const makeOfType = (part: ValueSchema, type: string): unknown => {
    switch (type) {
      case 'null':
        return null;
      case 'boolean':
        return random() < 0.5;
      case 'integer':
        return Math.floor(makeNumber(part));
      case 'number':
        return makeNumber(part);
      case 'array':
        return Array.from({ length: (part.minItems ?? 0) + Math.floor(random() * 3) }, () =>
          make(part.items ?? { type: 'string' }),
        );
      case 'string':
        return TEXTS[part.pattern ?? part.format ?? ''] ?? pick(WORDS);
      default:
        return makeObject(part);
    }
  };
  const makeNumber = ({ minimum = 0, maximum = minimum + 1000 }: ValueSchema): number =>
    minimum + random() * (maximum - minimum);
  const makeObject = (part: ValueSchema): Record<string, unknown> => {
    const { properties = {}, required = [], additionalProperties, minProperties = 0 } = part;
    const names = Object.keys(properties);
    const chosen = names.filter(
      (name) => required.includes(name) || random() < OPTIONAL_PROBABILITY,
    );
    const all = chosen.length < minProperties ? names : chosen;
    const entries = all.map((name) => [name, make(properties[name] ?? {})]);
    if (typeof additionalProperties === 'object')
      entries.push([pick(WORDS), make(additionalProperties)]);
    return Object.fromEntries(entries);
  };
  return make(schema);
}
