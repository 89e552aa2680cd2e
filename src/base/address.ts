import { isIPv4 } from 'node:net';

/**
 * Normalises the address of a service (RFC 3986, section 6.2): host in lower case without final dots, no default port, one form
 * of percent-encoding, no final slash. Two spellings of one service are equal after this.
 * @returns undefined where the text is no http address, or has a user name or password (it would be stored and shown), a query or
 * a fragment
 */
export function normalizeAddress(text: string): string | undefined {
  const trimmed = text.trim();
  if (!/^https?:\/\/[^/]/i.test(trimmed) || !URL.canParse(trimmed)) return undefined;
  const { protocol, hostname, port, pathname, username, password, search, hash } = new URL(trimmed);
  if (username !== '' || password !== '' || search !== '' || hash !== '') return undefined;
  const rest = `${port === '' ? '' : `:${port}`}${pathname.replace(/%[0-9a-f]{2}/gi, oneForm).replace(/(?<!\/)\/+$/, '')}`;
  const host = hostname.replace(/(?<!\.)\.+$/, '');
  // Without its final dots the host may be a number, which the URL parser writes in another form.
  return host === hostname ? `${protocol}//${host}${rest}` : normalizeAddress(`${protocol}//${host}${rest}`);
}

/** Decodes characters that need no encoding; the other escapes get capital digits (RFC 3986, section 6.2.2). */
function oneForm(encoded: string): string {
  const character = String.fromCharCode(Number.parseInt(encoded.slice(1), 16));
  return /[\w.~-]/.test(character) ? character : encoded.toUpperCase();
}

/** Tells if a host is this machine, by its address: 127.example.org is another host. IPv6 with or without brackets. */
export function isLoopback(host: string): boolean {
  return ['localhost', '::1', '[::1]'].includes(host) || (isIPv4(host) && host.startsWith('127.'));
}
