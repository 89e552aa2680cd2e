import { describe, expect, test } from 'vitest';
import { contentDigest, fetchToken, multipart } from '../support/contract-requests.ts';
import { startMock, type TestMock } from '../support/start-mock.ts';

type Example = { readonly value: unknown };
type Parameter = {
  readonly name?: string;
  readonly in?: string;
  readonly example?: unknown;
  readonly $ref?: string;
};
type Content = {
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly $ref: string }>>;
};
type Operation = {
  readonly operationId: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Content>> };
};
type Described = {
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly examples?: Readonly<Record<string, Example>>;
    readonly parameters?: Readonly<
      Record<string, Parameter & { readonly examples?: Content['examples'] }>
    >;
  };
};

const described = async (address: string) => (await (await fetch(address)).json()) as Described;
const operations = ({ paths }: Described) =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) =>
      Object.entries(operation.requestBody?.content ?? {}).map(([type, content]) => ({
        path,
        method,
        type,
        content,
        operation,
      })),
    ),
  );

function getExample({ components }: Described, { example, examples = {} }: Content): unknown {
  const name = Object.values(examples)[0]?.$ref.split('/').at(-1) ?? '';
  return example ?? components.examples?.[name]?.value;
}

function getPath({ components }: Described, path: string, { parameters = [] }: Operation): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const inPath = parameters
      .map((one) =>
        one.$ref === undefined ? one : components.parameters?.[one.$ref.split('/').at(-1) ?? ''],
      )
      .find((one) => one?.name === name);
    return String(inPath?.example);
  });
}

async function sent(
  mock: TestMock,
  type: string,
  url: string,
  method: string,
  value: unknown,
): Promise<Response> {
  const headers = {
    authorization: `Bearer ${await fetchToken(mock, 'archaeologist')}`,
    'content-type': type,
  };
  if (type === 'application/x-www-form-urlencoded')
    return fetch(url, {
      method,
      headers,
      body: new URLSearchParams(value as Record<string, string>).toString(),
    });
  if (type !== 'multipart/form-data')
    return fetch(url, { method, headers, body: JSON.stringify(value) });
  const fields = Object.entries(value as Record<string, string>);
  const isFile = fields.some(([name]) => name === 'file');
  const body = multipart(
    fields.map(([name, bytes]) => ({
      name,
      ...(isFile ? { fileName: 'example' } : { type: 'text/plain' }),
      bytes,
    })),
  );
  const digest = contentDigest(fields[0]?.[1] ?? '');
  return fetch(url, {
    method,
    headers: { ...headers, 'content-type': `${type}; boundary=xYzZY`, 'content-digest': digest },
    body: new Uint8Array(body),
  });
}

describe('Every request body in a description', () => {
  test.each([
    ['service', '/openapi.json', {}],
    ['service with another prefix', '/openapi.json', { prefix: 'abc' }],
    ['control interface', '/__mock__/openapi.json', {}],
  ])('of the %s is accepted on any port', async (_, path, options) => {
    await using mock = await startMock(options);
    const description = await described(mock.url + path);
    const [server] = description.servers;
    if (path.includes('__mock__')) {
      const service = await described(`${mock.url}/openapi.json`);
      await sent(
        mock,
        'multipart/form-data',
        `${mock.url}/api/pas/import-xml`,
        'POST',
        service.components.examples?.['Find']?.value,
      );
    }
    const all = operations(description);
    expect(all.length).toBeGreaterThan(4);
    for (const { path: template, method, type, content, operation } of all) {
      const value = getExample(description, content);
      expect([operation.operationId, value === undefined]).toEqual([operation.operationId, false]);
      const url = `${server?.url}${getPath(description, template, operation)}`;
      const answer = await sent(mock, type, url, method.toUpperCase(), value);
      expect([operation.operationId, answer.status, await answer.text()]).toEqual([
        operation.operationId,
        answer.ok ? answer.status : 200,
        expect.anything(),
      ]);
    }
  });

  test('is shown with its own digest', async () => {
    await using mock = await startMock();
    const { components } = await described(`${mock.url}/openapi.json`);
    const of = (name: string) => components.examples?.[name]?.value;
    for (const name of ['Find', 'Photograph'])
      expect(of(`${name}Digest`)).toBe(contentDigest((of(name) as { file: string }).file));
  });
});
