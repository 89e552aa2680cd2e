import { existsSync } from 'node:fs';
import { PasError } from '../base/errors.ts';
import { cmd } from '../base/message.ts';
import type { Elsewhere } from '../columns/map-row.ts';
import { headerOf, type Outbox, openOutbox } from '../outbox/open-outbox.ts';
import { findByIdentCely } from '../outbox/stored-finds.ts';
import type { Context } from './context.ts';

type Issuer = { readonly profile: string; readonly outbox: Outbox };

/** Looks up an identifier among those that other services, such as a training instance, gave to finds of this data home. */
export function lookInOtherOutboxes(context: Context, own: Outbox): (identCely: string) => Elsewhere | undefined {
  const here = context.profile();
  let issuers: readonly Issuer[] | undefined;
  return (identCely) => {
    if (findByIdentCely(own, identCely) !== undefined) return undefined;
    issuers ??= openIssuers(context, here.baseUrl);
    for (const { profile, outbox } of issuers) {
      const localId = findByIdentCely(outbox, identCely)?.localId;
      if (localId === undefined) continue;
      const { address } = headerOf(outbox);
      return { localId, address, command: cmd`pas copy ${localId} --profile ${profile} --to ${here.name}` };
    }
    return undefined;
  };
}

/** Opens the usable outboxes of profiles of other services. */
function openIssuers(context: Context, address: string): Issuer[] {
  return [...context.config().profiles].flatMap(([profile, { base_url: other, outbox: id }]) => {
    const file = id === undefined || other === address ? undefined : context.outboxPlaces(id.toString()).outboxFile;
    if (file === undefined || !existsSync(file)) return [];
    try {
      const outbox = openOutbox(file, context.clock);
      context.onClose(() => outbox.close());
      return [{ profile, outbox }];
    } catch (thrown) {
      if (thrown instanceof PasError) return [];
      throw thrown;
    }
  });
}
