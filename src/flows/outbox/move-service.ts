import { headerOf, isSameBinding, type Outbox, updateHeader } from '../../outbox/open-outbox.ts';
import { type NewEvent, recordEvents } from '../../outbox/record-events.ts';

/** New address and documents of a service. */
export type ServiceMove = { readonly address: string; readonly prefix?: string; readonly schemaVersion?: string };

/**
 * Records a new address or document form of an outbox's service. The caller holds the push lock.
 * @returns false where nothing changes
 */
export function moveOutbox(outbox: Outbox, { address, prefix, schemaVersion }: ServiceMove): boolean {
  return outbox.change(() => {
    const before = headerOf(outbox);
    const after = { address, prefix: prefix ?? before.prefix, schemaVersion: schemaVersion ?? before.schemaVersion };
    if (isSameBinding(before, after)) return false;
    if (address !== before.address) {
      const at = Math.floor(outbox.clock.now());
      const moved: NewEvent = { kind: 'moved', entry: null, body: { from: before.address, to: address, at } };
      // Later outboxes of the account find this one by the address.
      const bound: NewEvent[] =
        before.account === null ? [] : [{ kind: 'bound', entry: null, body: { account: before.account, address, at } }];
      recordEvents(outbox, [moved, ...bound]);
    }
    updateHeader(outbox, after);
    return true;
  });
}
