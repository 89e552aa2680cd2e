import { expect, test } from 'vitest';
import { chooseProxy, maskProxyCredentials } from '../../../src/service/http/proxy.ts';

const PROXY = 'http://proxy.test:3128';
const choose = (
  address: string,
  environment: Record<string, string>,
  configured?: string,
): string | undefined => chooseProxy(address, environment, configured)?.href;

test.each<[Record<string, string>, string, string | undefined]>([
  [{}, 'https://a.test', undefined],
  [{ HTTPS_PROXY: PROXY }, 'https://a.test', `${PROXY}/`],
  [{ https_proxy: PROXY, HTTPS_PROXY: 'http://other.test' }, 'https://a.test', `${PROXY}/`],
  [{ HTTPS_PROXY: PROXY }, 'http://a.test', undefined],
  [{ HTTP_PROXY: PROXY }, 'http://a.test', `${PROXY}/`],
  [{ HTTP_PROXY: PROXY }, 'https://a.test', undefined],
  [{ ALL_PROXY: PROXY }, 'https://a.test', `${PROXY}/`],
  [{ HTTPS_PROXY: 'proxy.test:3128' }, 'https://a.test', `${PROXY}/`],
  [{ HTTPS_PROXY: '' }, 'https://a.test', undefined],
])('%j gives %s the proxy %s', (environment, address, expected) => {
  expect(choose(address, environment)).toBe(expected);
});

test('a configured proxy replaces that of the environment, and an empty one is none', () => {
  const environment = { HTTPS_PROXY: 'http://other.test', NO_PROXY: 'b.test' };
  expect(choose('https://a.test', environment, PROXY)).toBe(`${PROXY}/`);
  expect(choose('https://b.test', environment, PROXY)).toBeUndefined();
  expect(choose('https://a.test', environment, '')).toBeUndefined();
});

test.each([
  ['*', 'https://a.test', true],
  ['museum.test', 'https://museum.test', true],
  ['museum.test', 'https://finds.museum.test', true],
  ['museum.test', 'https://otherMuseum.test', false],
  ['.museum.test', 'https://finds.museum.test', true],
  ['*.museum.test', 'https://finds.museum.test', true],
  ['MUSEUM.test', 'https://Finds.museum.TEST', true],
  ['a.test, museum.test', 'https://museum.test', true],
  ['a.test museum.test', 'https://museum.test', true],
  ['museum.test:443', 'https://museum.test', true],
  ['museum.test:8443', 'https://museum.test', false],
  ['museum.test:8443', 'https://museum.test:8443', true],
  ['127.0.0.1', 'https://127.0.0.1:5000', true],
  ['0.0.1', 'https://127.0.0.1', false],
  ['10.0.0.0/8', 'https://10.20.30.40', true],
  ['10.0.0.0/8', 'https://11.20.30.40', false],
  ['10.0.0.0/99', 'https://10.20.30.40', false],
  ['::1', 'https://[::1]:5000', true],
  ['[::1]:5000', 'https://[::1]:5000', true],
  ['[::1]:5001', 'https://[::1]:5000', false],
  [',', 'https://a.test', false],
])('NO_PROXY=%s and %s: direct is %s', (noProxy, address, isDirect) => {
  const environment = { HTTPS_PROXY: PROXY, NO_PROXY: noProxy };
  expect(choose(address, environment)).toBe(isDirect ? undefined : `${PROXY}/`);
});

test('a proxy of another kind is refused without its password', () => {
  const choosing = () => choose('https://a.test', { HTTPS_PROXY: 'socks5://eva:planted@p.test' });
  expect(choosing).toThrow(/^HTTPS_PROXY: (?!.*planted)/);
});

test.each([
  ['http://eva:planted@proxy.test:3128', 'http://***@proxy.test:3128'],
  ['eva:pl@nted@proxy.test', '***@proxy.test'],
  [PROXY, PROXY],
])('%s is shown as %s', (text, shown) => {
  expect(maskProxyCredentials(text)).toBe(shown);
});
