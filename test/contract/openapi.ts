import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { packageRoot } from '../../src/base/own-files.ts';

type Media = { readonly schema?: object };
type Response = {
  readonly $ref?: string;
  readonly content?: Readonly<Record<string, Media>>;
  readonly headers?: Readonly<Record<string, object>>;
};
type Operation = { readonly responses: Readonly<Record<string, Response>> };
type Description = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
};

/** Request and answer, as a client sees them. */
export type Exchanged = {
  readonly method: string;
  /** Below the described address, without the query. */
  readonly path: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined where it is not known as a whole. */
  readonly body: string | undefined;
};

/** Holds answers against an OpenAPI description, and notes which of its statuses were met. */
export class Described {
  readonly description: Description;
  readonly #ajv: Ajv2020;
  readonly #paths: ReadonlyArray<readonly [path: string, pattern: RegExp]>;
  readonly #validators = new Map<string, ValidateFunction>();
  /** `METHOD path status` */
  readonly met = new Set<string>();

  constructor(of: 'service' | 'control') {
    this.description = JSON.parse(
      readFileSync(join(packageRoot, 'mock-server', 'openapi', `${of}.json`), 'utf8'),
    ) as Description;
    this.#ajv = new Ajv2020({ strict: false, allErrors: false });
    formats.default(this.#ajv);
    this.#ajv.addSchema({ $id: 'openapi', ...this.description }, 'openapi');
    // A path without parameters is meant before one with them.
    this.#paths = Object.keys(this.description.paths)
      .sort((one, other) => one.split('{').length - other.split('{').length)
      .map((path) => [path, new RegExp(`^${path.replaceAll(/\{[^}]*\}/g, '[^/]+')}$`)]);
  }

  /** Every `METHOD path status` that is described. */
  all(): string[] {
    return Object.entries(this.description.paths).flatMap(([path, operations]) =>
      Object.entries(operations).flatMap(([method, { responses }]) =>
        Object.keys(responses).map((status) => `${method.toUpperCase()} ${path} ${status}`),
      ),
    );
  }

  /**
   * Why an answer is not as described; undefined where it is, or where its path is not described.
   */
  fault({ method, path, status, headers, body }: Exchanged): string | undefined {
    const described = this.#paths.find(([, pattern]) => pattern.test(path))?.[0];
    if (described === undefined) return undefined;
    const operations = this.description.paths[described] ?? {};
    const [name = '', operation] =
      Object.entries(operations).find(([one]) => one === method.toLowerCase()) ??
      Object.entries(operations)[0] ??
      [];
    // Another method is answered as one of the path's own is.
    const where = `${name.toUpperCase()} ${described} ${status}`;
    const found = operation?.responses[String(status)];
    if (found === undefined) return `${where} is not described`;
    this.met.add(where);
    const response = found.$ref === undefined ? found : this.#resolved(found.$ref);
    const type = (headers['content-type'] ?? '').split(';')[0] ?? '';
    const media = response.content?.[type] ?? response.content?.[`${type.split('/')[0]}/*`];
    if (media === undefined)
      return `${where} says ${type}, described are ${Object.keys(response.content ?? {}).join(', ')}`;
    for (const name of ['X-Record-ID', 'Location', 'WWW-Authenticate'])
      if (response.headers?.[name] !== undefined && headers[name.toLowerCase()] === undefined)
        return `${where} lacks ${name}`;
    if (media.schema === undefined || body === undefined || method === 'HEAD') return undefined;
    const value: unknown = type === 'application/json' ? JSON.parse(body) : body;
    const validate = this.#getValidator(media.schema);
    return validate(value)
      ? undefined
      : `${where}: ${this.#ajv.errorsText(validate.errors)}: ${body.slice(0, 300)}`;
  }

  #resolved(reference: string): Response {
    const [kind = '', name = ''] = reference.split('/').slice(2);
    return this.description.components[kind]?.[name] as Response;
  }

  #getValidator(schema: object): ValidateFunction {
    const text = JSON.stringify(schema).replaceAll('"#/', '"openapi#/');
    const cached = this.#validators.get(text);
    if (cached !== undefined) return cached;
    const validator = this.#ajv.compile(JSON.parse(text) as object);
    this.#validators.set(text, validator);
    return validator;
  }
}
