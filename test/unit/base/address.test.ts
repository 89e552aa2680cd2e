import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isLoopback, normalizeAddress } from '../../../src/cli/context/config.ts';

describe('a service address', () => {
  const ADDRESS = 'https://finds.example.org';

  test.each([
    ['as it is', ADDRESS, ADDRESS],
    ['with a slash at the end', `${ADDRESS}/`, ADDRESS],
    ['with the port that its scheme has anyway', `${ADDRESS}:443/`, ADDRESS],
    ['with a final dot before the port', 'https://finds.example.org.:443', ADDRESS],
    ['with blanks around it, as it was pasted', ` \t${ADDRESS}/\n`, ADDRESS],
    ['with a query and a fragment that are empty', `${ADDRESS}/?#`, ADDRESS],
    ['with dot segments that lead out of it', `${ADDRESS}/../..`, ADDRESS],
    ['with a path', `${ADDRESS}/Museum/`, `${ADDRESS}/Museum`],
    [
      'with a host of national letters',
      'https://NÁLEZY.example.org',
      'https://xn--nlezy-xqa.example.org',
    ],
    ['with national letters in its path', `${ADDRESS}/nález`, `${ADDRESS}/n%C3%A1lez`],
    ['with those in small digits', `${ADDRESS}/n%c3%a1lez`, `${ADDRESS}/n%C3%A1lez`],
    [
      'with a tilde that a browser has written otherwise',
      `${ADDRESS}/%7Emuseum`,
      `${ADDRESS}/~museum`,
    ],
    ['without TLS', 'http://finds.example.org:80/', 'http://finds.example.org'],
    ['with a port of its own', 'http://LOCALHOST:08080/', 'http://localhost:8080'],
    ['by its number', 'http://127.1:80', 'http://127.0.0.1'],
    ['by its long number', 'http://[0:0:0:0:0:0:0:1]/', 'http://[::1]'],
  ])('has one canonical form: %s', (_name, text, expected) => {
    expect(normalizeAddress(text)).toBe(expected);
  });
});

test.each([
  ['a user name', 'https://eva@finds.example.org'],
  ['a password', 'https://:planted@finds.example.org'],
  ['both', 'https://eva:planted@finds.example.org/'],
  ['a query', 'https://finds.example.org/?token=planted'],
  ['a fragment', 'https://finds.example.org/#planted'],
  ['another scheme', 'ftp://finds.example.org'],
  ['a scheme that ends like one of these', 'xhttps://finds.example.org'],
  ['no scheme', 'finds.example.org'],
  ['no slashes', 'https:finds.example.org'],
  ['no host', 'https://'],
  ['no host before its path', 'https:///finds'],
  ['no host but a dot', 'https://./finds'],
  ['no host but a port', 'https://:443'],
  ['a blank in its host', 'https://finds example.org'],
  ['a port that there is not', 'https://finds.example.org:65536'],
  ['nothing', ''],
])('with %s is refused', (_name, text) => {
  expect(normalizeAddress(text)).toBeUndefined();
});

describe('for any input', () => {
  const label = fc.stringMatching(/^[a-z]([a-z0-9-]{0,8}[a-z0-9])?$/);
  const host = fc.oneof(
    fc.tuple(label, label).map((labels) => labels.join('.')),
    fc.constantFrom(
      'nálezy.example.org',
      'xn--nlezy-xqa.example.org',
      '127.0.0.1',
      '[::1]',
      '[2001:DB8::1]',
      'localhost',
    ),
  );
  const segment = fc.stringMatching(/^[A-Za-z0-9~_-]{1,6}$/);
  const address = fc.record({
    scheme: fc.constantFrom('http', 'https'),
    host,
    port: fc.option(fc.integer({ min: 1, max: 65_535 })),
    path: fc.array(segment, { maxLength: 3 }),
  });
  type Address = typeof address extends fc.Arbitrary<infer Value> ? Value : never;

  const plainly = ({ scheme, host: name, port, path }: Address): string =>
    `${scheme}://${name}${port === null ? '' : `:${port}`}${path.map((each) => `/${each}`).join('')}`;

  /** The same address, as carelessly as a person may write it. */
  const spelled = fc
    .record({
      address,
      isLoud: fc.boolean(),
      hasDot: fc.boolean(),
      zeros: fc.nat({ max: 2 }),
      detours: fc.array(fc.constantFrom('', '/.', '/x/..', '/%2e'), { minLength: 4, maxLength: 4 }),
      slashes: fc.constantFrom('', '/', '//', '/./'),
      around: fc.tuple(fc.constantFrom('', ' ', '\t\n'), fc.constantFrom('', ' ', '\r\n')),
    })
    .map(({ address: given, isLoud, hasDot, zeros, detours, slashes, around: [before, after] }) => {
      const { scheme, host: name, port, path } = given;
      const own = scheme === 'http' ? 80 : 443;
      const shownPort = port === null ? (hasDot ? `:${own}` : '') : `:${'0'.repeat(zeros)}${port}`;
      const begin = `${scheme}://${name}${hasDot && !name.startsWith('[') ? '.' : ''}`;
      const way = path.map((each, index) => `${detours[index] ?? ''}/${each}`).join('');
      const text = `${before}${isLoud ? begin.toUpperCase() : begin}${shownPort}${way}${detours[3] ?? ''}${slashes}${after}`;
      return { plain: plainly(given), text };
    });

  test('spellings of one address become equal', () => {
    fc.assert(
      fc.property(spelled, ({ plain, text }) => {
        expect(normalizeAddress(text)).toBe(normalizeAddress(plain));
        expect(normalizeAddress(text)).toBeDefined();
      }),
    );
  });

  test('addresses that differ in host, port or path stay different', () => {
    const marked = address.map((parts) => ({
      ...parts,
      host: 'a.example.org',
      port: parts.port === 80 || parts.port === 443 ? 1 : parts.port,
    }));
    fc.assert(
      fc.property(marked, marked, (one, other) => {
        fc.pre(plainly(one) !== plainly(other));
        expect(normalizeAddress(plainly(one))).not.toBe(normalizeAddress(plainly(other)));
      }),
    );
  });

  test('the canonical form is stable', () => {
    const parts = fc.array(
      fc.constantFrom('a', '1', '.', '-', '0x7f', '%2e', ':', '/', '@', '?', '#', '\\', ' '),
      {
        maxLength: 8,
      },
    );
    const odd = fc
      .tuple(fc.constantFrom('http://a', 'https://1', 'https://'), parts)
      .map(([begin, rest]) => begin + rest.join(''));
    const anything = fc.oneof(
      fc.webUrl({ withQueryParameters: true, withFragments: true }),
      odd,
      fc.string(),
      spelled.map(({ text }) => text),
    );
    fc.assert(
      fc.property(anything, (text) => {
        const normal = normalizeAddress(text);
        if (normal !== undefined) expect(normalizeAddress(normal)).toBe(normal);
      }),
    );
  });
});

describe('this machine is recognised by its address', () => {
  test.each(['localhost', '127.0.0.1', '127.8.9.10', '[::1]', '::1'])('%s', (host) => {
    expect(isLoopback(host)).toBe(true);
  });

  test.each([
    '127.evil.example',
    '127.0.0.1.evil.example',
    'localhost.evil.example',
    '127.1.2.3.4',
    '10.127.0.1',
    '[::2]',
    '::1.example',
  ])('but %s is not, which only looks like it', (host) => {
    expect(isLoopback(host)).toBe(false);
  });
});
