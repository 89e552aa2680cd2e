import { type BlockList, isIP } from 'node:net';
import { findAddressFault, isInList, makeBlockList, toPlainAddress } from '../base/address-list.ts';
import type { Settings } from './settings.ts';

/** Access lists of the settings, compiled. */
export type AccessLists = {
  readonly trustedProxies: BlockList;
  /** Undefined where there is no rule of the kind. */
  readonly ipBlacklist: BlockList | undefined;
  readonly ipWhitelist: BlockList | undefined;
  readonly userBlacklist: ReadonlySet<string> | undefined;
  readonly userWhitelist: ReadonlySet<string> | undefined;
};

/**
 * Makes the lists from the active rules; an empty one is undefined, so that it restricts nothing.
 */
export function makeAccessLists(settings: Settings): AccessLists {
  const active = settings.access_rules.filter((rule) => rule.active !== false);
  const listValues = (type: string) =>
    active.filter((rule) => rule.rule_type === type).map((rule) => rule.value);
  return {
    trustedProxies: makeBlockList(
      settings.trusted_proxies.filter((proxy) => findAddressFault(proxy) === undefined),
    ),
    ipBlacklist: makeUnlessEmpty(listValues('ip_blacklist'), makeBlockList),
    ipWhitelist: makeUnlessEmpty(listValues('ip_whitelist'), makeBlockList),
    userBlacklist: makeUnlessEmpty(listValues('user_blacklist'), makeNameSet),
    userWhitelist: makeUnlessEmpty(listValues('user_whitelist'), makeNameSet),
  };
}

/**
 * Returns the client's address: the socket's, unless it is a trusted proxy; then the right-most
 * untrusted entry of `X-Forwarded-For` (A-GATE-10), since entries further left may be forged. Where
 * every entry is trusted, the header names no client.
 */
export function findClientAddress(
  socketAddress: string,
  forwardedFor: string | undefined,
  trusted: BlockList,
): string {
  const peer = toPlainAddress(socketAddress);
  const chain = [
    ...(forwardedFor ?? '').split(',').map((entry) => toPlainAddress(entry.trim())),
    peer,
  ];
  return chain.findLast((entry) => isIP(entry) !== 0 && !isInList(trusted, entry)) ?? peer;
}

function makeNameSet(values: readonly string[]): ReadonlySet<string> {
  return new Set(values.map((value) => value.toLowerCase()));
}

function makeUnlessEmpty<T>(
  values: readonly string[],
  make: (values: readonly string[]) => T,
): T | undefined {
  return values.length === 0 ? undefined : make(values);
}
