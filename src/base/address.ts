import { isIPv4 } from 'node:net';

/**
 * The one spelling of a service's address (RFC 3986, section 6.2): host in lower case and without final dots, the scheme's own port
 * left out, what is percent-encoded in one form, no slash at the end. What spells one service differently is equal after this.
 * @returns undefined where the text is no http address, or carries what no address of a service has: a user name or a password,
 *   which would be stored and shown with it, a query or a fragment
 */
export function normalAddress(text: string): string | undefined {
  const trimmed = text.trim();
  if (!/^https?:\/\/[^/]/i.test(trimmed) || !URL.canParse(trimmed)) return undefined;
  const { protocol, hostname, port, pathname, username, password, search, hash } = new URL(trimmed);
  if (username !== '' || password !== '' || search !== '' || hash !== '') return undefined;
  const rest = `${port === '' ? '' : `:${port}`}${pathname.replace(/%[0-9a-f]{2}/gi, oneForm).replace(/\/+$/, '')}`;
  const host = hostname.replace(/\.+$/, '');
  // Without its dots it may be a number, which is written otherwise.
  return host === hostname ? `${protocol}//${host}${rest}` : normalAddress(`${protocol}//${host}${rest}`);
}

/** Letters that need no encoding stand as they are, others with large digits (RFC 3986, section 6.2.2). */
function oneForm(encoded: string): string {
  const character = String.fromCharCode(Number.parseInt(encoded.slice(1), 16));
  return /[\w.~-]/.test(character) ? character : encoded.toUpperCase();
}

/** Whether a host is this machine, by its address: a name may begin like one. IPv6 with or without its brackets. */
export function isLoopback(host: string): boolean {
  return ['localhost', '::1', '[::1]'].includes(host) || (isIPv4(host) && host.startsWith('127.'));
}
