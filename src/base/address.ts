/**
 * The one spelling of a service's address (RFC 3986, section 6.2): host in lower case and without its final dot, the scheme's own port
 * left out, no slash at the end. What spells one service differently is equal after this.
 * @returns undefined where the text is no http address, or carries what no address of a service has: a user name or a password,
 *   which would be stored and shown with it, a query or a fragment
 */
export function normalAddress(text: string): string | undefined {
  const trimmed = text.trim();
  if (!/^https?:\/\/[^/]/i.test(trimmed) || !URL.canParse(trimmed)) return undefined;
  const { protocol, hostname, port, pathname, username, password, search, hash } = new URL(trimmed);
  if (username !== '' || password !== '' || search !== '' || hash !== '') return undefined;
  const host = hostname.replace(/\.$/, '');
  if (host === '') return undefined;
  return `${protocol}//${host}${port === '' ? '' : `:${port}`}${pathname.replace(/\/+$/, '')}`;
}
