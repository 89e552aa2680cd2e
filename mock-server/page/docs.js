import { element, getPart } from './element.js';

/**
 * @typedef {Record<string, unknown>} Json
 * @typedef {{ of: string, whole: Json }} Shown a description, and which one it is
 */

/** Where the descriptions are, seen from this page: a tenant's page has those of the tenant. */
const ADDRESSES = new Map([
  ['service', '../openapi.json'],
  ['control', 'openapi.json'],
]);
const METHODS = ['get', 'put', 'post', 'patch', 'delete'];
/** Keys of a schema that are shown beside the type of a value. */
const BOUNDS = [
  'format',
  'pattern',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'minProperties',
];

const place = getPart('description', HTMLElement);
let shownOperation = '';

await follow();
addEventListener('hashchange', () => void follow());

/** Shows what the address asks for: `#service`, `#control/operation`, `#control/schema/name`. */
async function follow() {
  const [asked = ''] = location.hash.slice(1).split('/');
  const of = ADDRESSES.has(asked) ? asked : 'service';
  if (of !== shownOperation) {
    shownOperation = of;
    const answer = await fetch(ADDRESSES.get(of) ?? '');
    /** @type {unknown} */
    const whole = await answer.json();
    if (shownOperation !== of) return;
    place.replaceChildren(...descriptionParts({ of, whole: toMap(whole) }));
    for (const link of document.querySelectorAll('.choice a'))
      link.toggleAttribute('aria-current', link.getAttribute('href') === `#${of}`);
  }
  const target = document.getElementById(location.hash.slice(1));
  if (target instanceof HTMLDetailsElement) target.open = true;
  target?.scrollIntoView();
}

/** @param {Shown} shown */
function descriptionParts(shown) {
  const info = toMap(shown.whole['info']);
  const servers = toList(shown.whole['servers']).map((server) => toText(toMap(server)['url']));
  return [
    element('h2', {}, toText(info['title'])),
    element('p', {}, ...markCode(toText(info['description']))),
    element('p', {}, 'Address: ', element('code', {}, servers.join(', '))),
    ...operationsByTag(shown),
    element('h2', {}, 'Shapes'),
    ...Object.entries(toMap(toMap(shown.whole['components'])['schemas'])).map(([name, schema]) =>
      element(
        'details',
        { id: `${shown.of}/schema/${name}` },
        element('summary', {}, element('code', {}, name)),
        element('div', { class: 'schema' }, ...schemaParts(shown, toMap(schema))),
      ),
    ),
  ];
}

/** @param {Shown} shown */
function operationsByTag(shown) {
  /** @type {Map<string, HTMLElement[]>} */
  const byTag = new Map();
  for (const [path, operations] of Object.entries(toMap(shown.whole['paths'])))
    for (const method of METHODS) {
      const operation = toMap(toMap(operations)[method]);
      if (operation['responses'] === undefined) continue;
      const tag = toText(toList(operation['tags'])[0]);
      byTag.set(tag, [...(byTag.get(tag) ?? []), operationPart(shown, method, path, operation)]);
    }
  return [...byTag].flatMap(([tag, parts]) => [element('h2', {}, tag), ...parts]);
}

/**
 * @param {Shown} shown
 * @param {string} method
 * @param {string} path
 * @param {Json} operation
 */
function operationPart(shown, method, path, operation) {
  const parameters = toList(operation['parameters']).map((parameter) =>
    resolveReference(shown, parameter),
  );
  const body = toMap(toMap(operation['requestBody'])['content']);
  return element(
    'details',
    { id: `${shown.of}/${toText(operation['operationId'])}` },
    element(
      'summary',
      {},
      element('span', { class: 'method' }, method.toUpperCase()),
      element('code', {}, path),
      toText(operation['summary']),
    ),
    element('p', {}, ...markCode(toText(operation['description']))),
    ...(parameters.length === 0
      ? []
      : [
          element('h3', {}, 'Parameters'),
          table(parameters.map((parameter) => parameterRow(shown, parameter))),
        ]),
    ...(Object.keys(body).length === 0
      ? []
      : [element('h3', {}, 'Body'), table(mediaRows(shown, body))]),
    element('h3', {}, 'Answers'),
    table(Object.entries(toMap(operation['responses'])).map((answer) => answerRow(shown, answer))),
  );
}

/**
 * @param {Shown} shown
 * @param {Json} parameter
 */
function parameterRow(shown, parameter) {
  const about = [toText(parameter['in']), parameter['required'] === true ? 'required' : ''].filter(
    (text) => text !== '',
  );
  return row(
    [element('code', {}, toText(parameter['name'])), ` ${about.join(', ')}`],
    [...markCode(toText(parameter['description'])), schemaPart(shown, toMap(parameter['schema']))],
  );
}

/**
 * @param {Shown} shown
 * @param {Json} content
 */
function mediaRows(shown, content) {
  return Object.entries(content).map(([type, media]) =>
    row([element('code', {}, type)], [schemaPart(shown, toMap(toMap(media)['schema']))]),
  );
}

/**
 * @param {Shown} shown
 * @param {[status: string, response: unknown]} answer
 */
function answerRow(shown, [status, response]) {
  const resolvedAnswer = resolveReference(shown, response);
  const content = Object.entries(toMap(resolvedAnswer['content'])).flatMap(([type, media]) => {
    const schema = toMap(toMap(media)['schema']);
    return [element('div', {}, element('code', {}, type), ' ', schemaPart(shown, schema))];
  });
  return row(
    [element('code', {}, status)],
    [...markCode(toText(resolvedAnswer['description'])), ...content],
  );
}

/**
 * @param {Shown} shown
 * @param {Json} schema
 */
function schemaPart(shown, schema) {
  return element('div', { class: 'schema' }, ...schemaParts(shown, schema));
}

/**
 * Describes a value: its type in a word, below it its parts.
 * @param {Shown} shown
 * @param {Json} schema
 * @returns {(Node | string)[]}
 */
function schemaParts(shown, schema) {
  const reference = toText(schema['$ref']).split('/').at(-1);
  if (reference !== undefined && reference !== '')
    return [
      element('a', { href: `#${shown.of}/schema/${reference}` }, reference),
      ...remark(schema),
    ];
  const required = toList(schema['required']);
  const properties = Object.entries(toMap(schema['properties'])).map(([name, property]) =>
    element(
      'li',
      {},
      element('code', {}, name),
      required.includes(name) ? ' required ' : ' ',
      ...schemaParts(shown, toMap(property)),
    ),
  );
  const choices = [
    ...toList(schema['oneOf']),
    ...toList(schema['anyOf']),
    ...toList(schema['allOf']),
  ].map((choice) => element('li', {}, ...schemaParts(shown, toMap(choice))));
  const items =
    schema['items'] === undefined ? [] : [' of ', ...schemaParts(shown, toMap(schema['items']))];
  return [
    element('span', { class: 'muted' }, formatType(schema)),
    ...items,
    ...remark(schema),
    ...(choices.length === 0 ? [] : [element('ul', {}, ...choices)]),
    ...(properties.length === 0 ? [] : [element('ul', {}, ...properties)]),
  ];
}

/** @param {Json} schema */
function remark(schema) {
  const text = toText(schema['description']);
  return text === '' ? [] : [' ', ...markCode(text)];
}

/** @param {Json} schema */
function formatType(schema) {
  if (schema['const'] !== undefined) return JSON.stringify(schema['const']);
  if (schema['enum'] !== undefined) return toList(schema['enum']).map(toText).join(' | ');
  const kind = (schema['oneOf'] ?? schema['anyOf']) ? 'one of' : 'any';
  const type =
    schema['type'] === undefined ? kind : [schema['type']].flat().map(toText).join(' | ');
  const bounds = BOUNDS.filter((name) => schema[name] !== undefined).map(
    (name) => `${name} ${toText(schema[name])}`,
  );
  return [type, ...bounds].join(', ');
}

/**
 * @param {Shown} shown
 * @param {unknown} value a part of the description, or where it stands:
 * `#/components/parameters/name`
 */
function resolveReference(shown, value) {
  const reference = toText(toMap(value)['$ref']);
  if (reference === '') return toMap(value);
  return reference
    .split('/')
    .slice(1)
    .reduce((within, name) => toMap(within[name]), shown.whole);
}

/** @param {HTMLTableRowElement[]} rows */
function table(rows) {
  return element('table', {}, element('tbody', {}, ...rows));
}

/**
 * @param {(Node | string)[]} head
 * @param {(Node | string)[]} cell
 */
function row(head, cell) {
  return element('tr', {}, element('th', { scope: 'row' }, ...head), element('td', {}, ...cell));
}

/**
 * A text in which code stands between backticks.
 * @param {string} text
 */
function markCode(text) {
  return text.split('`').map((piece, at) => (at % 2 === 0 ? piece : element('code', {}, piece)));
}

/** @param {unknown} value */
function toMap(value) {
  return /** @type {Json} */ (typeof value === 'object' && value !== null ? value : {});
}

/** @param {unknown} value */
function toList(value) {
  return Array.isArray(value) ? value : [];
}

/** @param {unknown} value */
function toText(value) {
  return value === undefined ? '' : String(value);
}
