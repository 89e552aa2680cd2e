import { BlockList, isIP } from 'node:net';

/** Tells if the list covers an address; false for a text that is no IP address. */
export function isInList(list: BlockList, address: string): boolean {
  const family = isIP(address);
  return family !== 0 && list.check(address, family === 6 ? 'ipv6' : 'ipv4');
}

/** Converts an IPv4 address of an IPv6 socket to plain IPv4. */
export function toPlainAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, '');
}

/**
 * Explains why a text is no address, block (`10.0.0.0/8`) or range (`10.0.0.1-10.0.0.9`); undefined
 * for a valid one.
 */
export function findAddressFault(value: string): string | undefined {
  try {
    addTo(new BlockList(), value);
    return undefined;
  } catch {
    return `"${value}" is no address, CIDR block or a-b range`;
  }
}

/**
 * Makes a list of addresses, subnets (`10.0.0.0/8`) and ranges (`a-b`).
 * @throws Error for another text
 */
export function makeBlockList(values: readonly string[]): BlockList {
  const list = new BlockList();
  for (const value of values) addTo(list, value);
  return list;
}

function addTo(list: BlockList, value: string): void {
  const [first = '', last] = value.split('-').map((part) => part.trim());
  const [address = '', prefix] = first.split('/');
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
  if (isIP(address) === 0) throw new Error(`no address: ${value}`);
  if (last !== undefined) list.addRange(address, last, family);
  else if (prefix === undefined) list.addAddress(address, family);
  else if (/^\d+$/.test(prefix)) list.addSubnet(address, Number(prefix), family);
  else throw new Error(`no prefix length: ${value}`);
}
