import { Agent, request } from 'node:http';
import { makeSeededRandom } from '../../mock-server/base/random.ts';
import { contentDigest, multipart, type Part } from '../support/contract-requests.ts';
import type { Described, Exchanged } from '../support/openapi.ts';
import { makeValue, type ValueSchema } from './described-values.ts';

type Parameter = { readonly name: string; readonly in: string; readonly schema: ValueSchema };
type Reference<T> = T | { readonly $ref: string };
type Operation = {
  readonly parameters?: readonly Reference<Parameter>[];
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly schema: ValueSchema }>>;
  };
};

/** Values that a description cannot have: names and documents that the server under test knows. */
export type Known = {
  /** By the name of a parameter or a property. */
  readonly values: Readonly<Record<string, readonly unknown[]>>;
  /** Expected contents of the files of a form, by path. */
  readonly files: Readonly<Record<string, readonly Omit<Part, 'name'>[]>>;
  /** Headers of a signed-in account. */
  readonly signedIn: readonly Readonly<Record<string, string>>[];
};

export type FuzzRequest = {
  readonly method: string;
  /** Below the described address, with the query. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
};

const ODD_TEXTS = [
  '',
  ' ',
  '0',
  '-1',
  '1e309',
  '99999999999999999999',
  'null',
  '../..',
  '%',
  '%00',
  'žluťoučký kůň',
  '😀',
  '\u0000',
  '\ud800',
  '\u202e',
  "'; drop table records; --",
  '<svc/>',
  '&x;',
  '__proto__',
  'constructor',
  '{0}',
  '$&',
  'x'.repeat(300),
];
const ODD_VALUES = [
  ...ODD_TEXTS,
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e308,
  2 ** 53,
  [],
  {},
  [null],
  { x: {} },
  [[]],
];
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'];
const TYPES = [
  'application/json',
  'application/x-www-form-urlencoded',
  'multipart/form-data',
  'multipart/form-data; boundary=xYzZY',
  'text/plain',
  'application/xml',
  'x',
  ';',
];
const ACCEPTS = [
  '*/*',
  'application/json',
  'text/html',
  'application/xml',
  'text/html;q=0',
  'x',
  ';;,,',
  '*/*;q=x',
];
const LANGUAGES = ['cs', 'en', 'de-DE,de;q=0.5', '*', '', 'x'.repeat(200)];

/**
 * Requests made from a description: as it asks for, nearly so, and nonsense. The same seed makes
 * the same ones.
 */
export class Fuzz {
  readonly #described: Described;
  readonly #known: Known;
  readonly #random: () => number;
  readonly #operations: ReadonlyArray<
    readonly [path: string, method: string, operation: Operation]
  >;

  constructor(described: Described, known: Known, seed: number) {
    this.#described = described;
    this.#known = known;
    this.#random = makeSeededRandom(seed);
    this.#operations = Object.entries(described.description.paths).flatMap(([path, operations]) =>
      Object.entries(operations).map(
        ([method, operation]) => [path, method.toUpperCase(), operation as Operation] as const,
      ),
    );
  }

  next(): FuzzRequest {
    const [path, own, operation] = this.#one(this.#operations);
    const parameters = (operation.parameters ?? []).map((parameter) => this.#resolved(parameter));
    const of = (place: string): Array<readonly [string, string]> =>
      parameters.flatMap((parameter) => {
        if (parameter.in !== place || this.#chance(0.07)) return [];
        return [[parameter.name, this.#getText(parameter)] as const];
      });
    const target = path.replaceAll(/\{([^}]*)\}/g, (_, name: string) => {
      const parameter = parameters.find((one) => one.name === name);
      return getSegment(parameter === undefined ? 'x' : this.#getText(parameter)) || 'x';
    });
    const query = [
      ...of('query'),
      ...(this.#chance(0.05) ? [[this.#oddText(), this.#oddText()] as const] : []),
    ];
    const search = query.map(([name, value]) => `${escaped(name)}=${escaped(value)}`).join('&');
    const { body, type, digest } = this.#body(path, operation);
    const headers: Record<string, string> = {
      ...(this.#chance(0.93) ? this.#one(this.#known.signedIn) : {}),
      ...Object.fromEntries(of('header')),
      ...(digest === undefined || this.#chance(0.1) ? {} : { 'Content-Digest': digest }),
      ...(type === undefined
        ? {}
        : { 'Content-Type': this.#chance(0.05) ? this.#one(TYPES) : type }),
      ...(this.#chance(0.15) ? { Accept: this.#one(ACCEPTS) } : {}),
      ...(this.#chance(0.1) ? { 'Accept-Language': this.#one(LANGUAGES) } : {}),
      ...(this.#chance(0.05)
        ? { 'X-Forwarded-For': this.#one(['10.0.0.1', 'x, ,y', '::1,, 10.0.0.1']) }
        : {}),
      ...(this.#chance(0.03)
        ? { Authorization: this.#one(['Bearer', 'Bearer x', 'Basic eA==', 'bearer  ', 'x']) }
        : {}),
    };
    // Node lets nothing else out.
    for (const [name, value] of Object.entries(headers))
      headers[name] = value.replaceAll(/[^\t\x20-\x7e\xa0-\xff]/g, '?');
    return {
      method: this.#chance(0.04) ? this.#one(METHODS) : own,
      target: target + (search && `?${search}`),
      headers,
      body,
    };
  }

  #body(
    path: string,
    { requestBody }: Operation,
  ): { body: Buffer | undefined; type?: string; digest?: string } {
    if (requestBody === undefined) return { body: this.#chance(0.03) ? this.#bytes() : undefined };
    const [type, { schema }] = this.#one(Object.entries(requestBody.content));
    if (this.#chance(0.04)) return { body: this.#chance(0.5) ? undefined : this.#bytes(), type };
    const value = this.#getValue(schema);
    if (type === 'application/json') {
      const text = JSON.stringify(value) ?? '';
      return { body: Buffer.from(this.#chance(0.04) ? this.#spoiled(text) : text), type };
    }
    const fields = Object.entries(isObject(value) ? value : { x: value });
    if (type === 'application/x-www-form-urlencoded') {
      const text = fields
        .map(([name, item]) => `${escaped(name)}=${escaped(asText(item))}`)
        .join('&');
      return { body: Buffer.from(this.#chance(0.04) ? this.#spoiled(text) : text), type };
    }
    const files = this.#known.files[path];
    const parts = fields.map(([name, item]): Part => {
      const file = files === undefined ? undefined : this.#one(files);
      if (file === undefined || this.#chance(0.05))
        return { name: name.replaceAll(/[\r\n"]/g, ''), bytes: asText(item) };
      return { name, ...file, bytes: this.#chance(0.5) ? this.#nearly(file.bytes) : file.bytes };
    });
    const sentParts = this.#chance(0.05) ? [...parts, ...parts] : parts;
    const whole = multipart(sentParts);
    const [file] = parts;
    return {
      body: this.#chance(0.04)
        ? whole.subarray(0, Math.floor(this.#random() * whole.length))
        : whole,
      type: 'multipart/form-data; boundary=xYzZY',
      ...(files === undefined || file === undefined ? {} : { digest: contentDigest(file.bytes) }),
    };
  }

  #getText({ name, schema }: Parameter): string {
    const values = this.#known.values[name];
    if (values !== undefined && this.#chance(0.7)) return asText(this.#one(values));
    return this.#chance(0.4)
      ? this.#oddText()
      : asText(makeValue(schema, this.#described.description, this.#random));
  }

  /**
   * By its schema; often with names that are known; sometimes with one thing wrong; seldom
   * nonsense.
   */
  #getValue(schema: ValueSchema): unknown {
    if (this.#chance(0.05)) return this.#one(ODD_VALUES);
    const value = this.#withKnown(makeValue(schema, this.#described.description, this.#random));
    return this.#chance(0.4) ? this.#wronged(value) : value;
  }

  #withKnown(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((item) => this.#withKnown(item));
    if (!isObject(value)) return value;
    const entries = Object.entries(value).map(([name, item]) => {
      const values = this.#known.values[name];
      return [
        name,
        values !== undefined && this.#chance(0.8) ? this.#one(values) : this.#withKnown(item),
      ];
    });
    return Object.fromEntries(entries);
  }

  #wronged(value: unknown): unknown {
    const goDeeper = this.#chance(0.7);
    if (Array.isArray(value) && value.length > 0 && goDeeper) {
      const at = Math.floor(this.#random() * value.length);
      return value.map((item, index) => (index === at ? this.#wronged(item) : item));
    }
    if (!isObject(value)) return this.#one(ODD_VALUES);
    const names = Object.keys(value);
    if (names.length === 0 || this.#chance(0.15))
      return { ...value, [this.#oddText()]: this.#one(ODD_VALUES) };
    const name = this.#one(names);
    const { [name]: item, ...rest } = value;
    return goDeeper ? { ...rest, [name]: this.#wronged(item) } : rest;
  }

  /** A file of which some bytes are others, or missing, or an element's text is another. */
  #nearly(file: Buffer | string): Buffer {
    const bytes = Buffer.from(file);
    if (this.#chance(0.6) && bytes.includes('</'))
      return Buffer.from(this.#otherText(bytes.toString('utf8')));
    return this.#chance(0.5)
      ? Buffer.from(this.#spoiled(bytes.toString('latin1')), 'latin1')
      : bytes.subarray(0, bytes.length / 2);
  }

  #otherText(xml: string): string {
    const elements = [...xml.matchAll(/<([\w:]+)([^>]*)>([^<]*)<\/\1>/g)];
    if (elements.length === 0) return xml;
    const [whole, name = '', attributes = ''] = this.#one(elements);
    if (this.#chance(0.3)) return xml.replace(whole, () => '');
    if (this.#chance(0.2)) return xml.replace(whole, () => whole + whole);
    const text = this.#oddText();
    if (attributes.includes(' id=') && this.#chance(0.5))
      return xml.replace(whole, () =>
        whole.replace(/ id="[^"]*"/, () => ` id="${text.replaceAll('"', '')}"`),
      );
    return xml.replace(whole, () => `<${name}${attributes}>${text}</${name}>`);
  }

  #spoiled(text: string): string {
    const at = Math.floor(this.#random() * text.length);
    return this.#chance(0.5)
      ? text.slice(0, at)
      : text.slice(0, at) + this.#oddText() + text.slice(at + 1);
  }

  #bytes(): Buffer {
    const bytes = Buffer.alloc(Math.floor(this.#random() * 200));
    return bytes.map(() => Math.floor(this.#random() * 256)) as Buffer;
  }

  #resolved(parameter: Reference<Parameter>): Parameter {
    if (!('$ref' in parameter)) return parameter;
    const [kind = '', name = ''] = parameter.$ref.split('/').slice(2);
    return this.#described.description.components[kind]?.[name] as Parameter;
  }

  #oddText(): string {
    return this.#one(ODD_TEXTS);
  }

  #chance(probability: number): boolean {
    return this.#random() < probability;
  }

  #one<T>(items: readonly T[]): T {
    return items[Math.floor(this.#random() * items.length)] as T;
  }
}

const agent = new Agent({ keepAlive: true, maxSockets: 1 });

/** Sends a request as it is, past what `fetch` would correct of it. */
export function ask(
  base: string,
  { method, target, headers, body }: FuzzRequest,
): Promise<Exchanged> {
  const { hostname, port, pathname } = new URL(base);
  return new Promise((resolve, reject) => {
    const path = (pathname === '/' ? '' : pathname) + target;
    const length = body === undefined ? {} : { 'Content-Length': body.length };
    const clientRequest = request(
      { agent, hostname, port, method, path, headers: { ...headers, ...length } },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => void chunks.push(chunk));
        response.once('error', reject);
        response.once('end', () => {
          const headers = Object.entries(response.headers).map(([name, value]) => [
            name,
            String(value),
          ]);
          const [plain = ''] = target.split('?');
          const text = Buffer.concat(chunks).toString('utf8');
          resolve({
            method,
            path: plain,
            status: response.statusCode ?? 0,
            headers: Object.fromEntries(headers),
            body: text,
          });
        });
      },
    );
    clientRequest.once('error', reject);
    clientRequest.end(body);
  });
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

/**
 * Percent signs where an address needs them; half of a pair is no text that an address can hold.
 */
function escaped(text: string): string {
  return encodeURIComponent(text.replaceAll('\ud800', '?'));
}

/** Sometimes a bare percent sign, as no client should send it. */
function getSegment(text: string): string {
  return text === '%' ? text : escaped(text);
}
