import { BlockList, isIP } from 'node:net';
import type { Settings } from './settings.ts';

/** The lists of one settings value, ready to be asked. */
export type AccessLists = {
  readonly trustedProxies: BlockList;
  /** undefined where there is no rule of the kind at all. */
  readonly ipBlacklist: BlockList | undefined;
  readonly ipWhitelist: BlockList | undefined;
  readonly userBlacklist: ReadonlySet<string> | undefined;
  readonly userWhitelist: ReadonlySet<string> | undefined;
};

export function accessListsOf(settings: Settings): AccessLists {
  const active = settings.access_rules.filter((rule) => rule.active !== false);
  const valuesOf = (type: string) => active.filter((rule) => rule.rule_type === type).map((rule) => rule.value);
  return {
    trustedProxies: blockListOf(settings.trusted_proxies),
    ipBlacklist: unlessEmpty(valuesOf('ip_blacklist'), blockListOf),
    ipWhitelist: unlessEmpty(valuesOf('ip_whitelist'), blockListOf),
    userBlacklist: unlessEmpty(valuesOf('user_blacklist'), emailSet),
    userWhitelist: unlessEmpty(valuesOf('user_whitelist'), emailSet),
  };
}

/**
 * The socket's address, unless that is a trusted proxy's: then the right-most entry of `X-Forwarded-For` that is not
 * (facts 2.2). What stands further left may be forged.
 */
export function clientAddress(socketAddress: string, forwardedFor: string | undefined, trusted: BlockList): string {
  const chain = [
    ...(forwardedFor ?? '').split(',').map((entry) => plainAddress(entry.trim())),
    plainAddress(socketAddress),
  ].filter((entry) => isIP(entry) !== 0);
  let client = plainAddress(socketAddress);
  for (const address of chain.reverse()) {
    client = address;
    if (!contains(trusted, address)) break;
  }
  return client;
}

export function contains(list: BlockList, address: string): boolean {
  const family = isIP(address);
  return family !== 0 && list.check(address, family === 6 ? 'ipv6' : 'ipv4');
}

/** An IPv4 address that came over an IPv6 socket is the IPv4 address. */
export function plainAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, '');
}

/** Why a text is no address, block (`10.0.0.0/8`) or range (`10.0.0.1-10.0.0.9`); undefined when it is one. */
export function addressFault(value: string): string | undefined {
  try {
    addTo(new BlockList(), value);
    return undefined;
  } catch {
    return `"${value}" is no address, CIDR block or a-b range`;
  }
}

export function blockListOf(values: readonly string[]): BlockList {
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

function emailSet(values: readonly string[]): ReadonlySet<string> {
  return new Set(values.map((value) => value.toLowerCase()));
}

function unlessEmpty<T>(values: readonly string[], make: (values: readonly string[]) => T): T | undefined {
  return values.length === 0 ? undefined : make(values);
}
