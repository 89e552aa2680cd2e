import { element, part } from './element.js';

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
/** What is said of a value besides its type. */
const BOUNDS = ['format', 'pattern', 'minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties'];

const place = part('description', HTMLElement);
let shownOf = '';

await follow();
addEventListener('hashchange', () => void follow());

/** Shows what the address asks for: `#service`, `#control/operation`, `#control/schema/name`. */
async function follow() {
  const [asked = ''] = location.hash.slice(1).split('/');
  const of = ADDRESSES.has(asked) ? asked : 'service';
  if (of !== shownOf) {
    shownOf = of;
    const answer = await fetch(ADDRESSES.get(of) ?? '');
    /** @type {unknown} */
    const whole = await answer.json();
    if (shownOf !== of) return;
    place.replaceChildren(...descriptionParts({ of, whole: mapOf(whole) }));
    for (const link of document.querySelectorAll('.choice a'))
      link.toggleAttribute('aria-current', link.getAttribute('href') === `#${of}`);
  }
  const target = document.getElementById(location.hash.slice(1));
  if (target instanceof HTMLDetailsElement) target.open = true;
  target?.scrollIntoView();
}

/** @param {Shown} shown */
function descriptionParts(shown) {
  const info = mapOf(shown.whole['info']);
  const servers = listOf(shown.whole['servers']).map((server) => textOf(mapOf(server)['url']));
  return [
    element('h2', {}, textOf(info['title'])),
    element('p', {}, ...marked(textOf(info['description']))),
    element('p', {}, 'Address: ', element('code', {}, servers.join(', '))),
    ...operationsByTag(shown),
    element('h2', {}, 'Shapes'),
    ...Object.entries(mapOf(mapOf(shown.whole['components'])['schemas'])).map(([name, schema]) =>
      element(
        'details',
        { id: `${shown.of}/schema/${name}` },
        element('summary', {}, element('code', {}, name)),
        element('div', { class: 'schema' }, ...schemaParts(shown, mapOf(schema))),
      ),
    ),
  ];
}

/** @param {Shown} shown */
function operationsByTag(shown) {
  /** @type {Map<string, HTMLElement[]>} */
  const byTag = new Map();
  for (const [path, operations] of Object.entries(mapOf(shown.whole['paths'])))
    for (const method of METHODS) {
      const operation = mapOf(mapOf(operations)[method]);
      if (operation['responses'] === undefined) continue;
      const tag = textOf(listOf(operation['tags'])[0]);
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
  const parameters = listOf(operation['parameters']).map((parameter) => resolved(shown, parameter));
  const body = mapOf(mapOf(operation['requestBody'])['content']);
  return element(
    'details',
    { id: `${shown.of}/${textOf(operation['operationId'])}` },
    element(
      'summary',
      {},
      element('span', { class: 'method' }, method.toUpperCase()),
      element('code', {}, path),
      textOf(operation['summary']),
    ),
    element('p', {}, ...marked(textOf(operation['description']))),
    ...(parameters.length === 0
      ? []
      : [element('h3', {}, 'Parameters'), table(parameters.map((parameter) => parameterRow(shown, parameter)))]),
    ...(Object.keys(body).length === 0 ? [] : [element('h3', {}, 'Body'), table(mediaRows(shown, body))]),
    element('h3', {}, 'Answers'),
    table(Object.entries(mapOf(operation['responses'])).map((answer) => answerRow(shown, answer))),
  );
}

/**
 * @param {Shown} shown
 * @param {Json} parameter
 */
function parameterRow(shown, parameter) {
  const about = [textOf(parameter['in']), parameter['required'] === true ? 'required' : ''].filter((text) => text !== '');
  return row(
    [element('code', {}, textOf(parameter['name'])), ` ${about.join(', ')}`],
    [...marked(textOf(parameter['description'])), schemaPart(shown, mapOf(parameter['schema']))],
  );
}

/**
 * @param {Shown} shown
 * @param {Json} content
 */
function mediaRows(shown, content) {
  return Object.entries(content).map(([type, media]) =>
    row([element('code', {}, type)], [schemaPart(shown, mapOf(mapOf(media)['schema']))]),
  );
}

/**
 * @param {Shown} shown
 * @param {[status: string, response: unknown]} answer
 */
function answerRow(shown, [status, response]) {
  const said = resolved(shown, response);
  const content = Object.entries(mapOf(said['content'])).flatMap(([type, media]) => {
    const schema = mapOf(mapOf(media)['schema']);
    return [element('div', {}, element('code', {}, type), ' ', schemaPart(shown, schema))];
  });
  return row([element('code', {}, status)], [...marked(textOf(said['description'])), ...content]);
}

/**
 * @param {Shown} shown
 * @param {Json} schema
 */
function schemaPart(shown, schema) {
  return element('div', { class: 'schema' }, ...schemaParts(shown, schema));
}

/**
 * What a value looks like: its type in a word, below it its parts.
 * @param {Shown} shown
 * @param {Json} schema
 * @returns {(Node | string)[]}
 */
function schemaParts(shown, schema) {
  const reference = textOf(schema['$ref']).split('/').at(-1);
  if (reference !== undefined && reference !== '')
    return [element('a', { href: `#${shown.of}/schema/${reference}` }, reference), ...remark(schema)];
  const required = listOf(schema['required']);
  const properties = Object.entries(mapOf(schema['properties'])).map(([name, property]) =>
    element(
      'li',
      {},
      element('code', {}, name),
      required.includes(name) ? ' required ' : ' ',
      ...schemaParts(shown, mapOf(property)),
    ),
  );
  const choices = [...listOf(schema['oneOf']), ...listOf(schema['anyOf']), ...listOf(schema['allOf'])].map((choice) =>
    element('li', {}, ...schemaParts(shown, mapOf(choice))),
  );
  const items = schema['items'] === undefined ? [] : [' of ', ...schemaParts(shown, mapOf(schema['items']))];
  return [
    element('span', { class: 'muted' }, typeText(schema)),
    ...items,
    ...remark(schema),
    ...(choices.length === 0 ? [] : [element('ul', {}, ...choices)]),
    ...(properties.length === 0 ? [] : [element('ul', {}, ...properties)]),
  ];
}

/** @param {Json} schema */
function remark(schema) {
  const text = textOf(schema['description']);
  return text === '' ? [] : [' ', ...marked(text)];
}

/** @param {Json} schema */
function typeText(schema) {
  if (schema['const'] !== undefined) return JSON.stringify(schema['const']);
  if (schema['enum'] !== undefined) return listOf(schema['enum']).map(textOf).join(' | ');
  const kind = (schema['oneOf'] ?? schema['anyOf']) ? 'one of' : 'any';
  const type = schema['type'] === undefined ? kind : [schema['type']].flat().map(textOf).join(' | ');
  const bounds = BOUNDS.filter((name) => schema[name] !== undefined).map((name) => `${name} ${textOf(schema[name])}`);
  return [type, ...bounds].join(', ');
}

/**
 * @param {Shown} shown
 * @param {unknown} value a part of the description, or where it stands: `#/components/parameters/name`
 */
function resolved(shown, value) {
  const reference = textOf(mapOf(value)['$ref']);
  if (reference === '') return mapOf(value);
  return reference
    .split('/')
    .slice(1)
    .reduce((within, name) => mapOf(within[name]), shown.whole);
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
function marked(text) {
  return text.split('`').map((piece, at) => (at % 2 === 0 ? piece : element('code', {}, piece)));
}

/** @param {unknown} value */
function mapOf(value) {
  return /** @type {Json} */ (typeof value === 'object' && value !== null ? value : {});
}

/** @param {unknown} value */
function listOf(value) {
  return Array.isArray(value) ? value : [];
}

/** @param {unknown} value */
function textOf(value) {
  return value === undefined ? '' : String(value);
}
