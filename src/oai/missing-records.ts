import { t } from '../base/language.ts';
import { bytesOf, descendantsOf } from '../xml/element.ts';
import { parseXml } from '../xml/parse.ts';
import { buildXml } from '../xml/write-xml.ts';
import { digestOf, isUnidentified } from './apply-page.ts';
import { formatUpwards } from './datestamp.ts';
import { OAI_NAMESPACE } from './protocol.ts';
import { parseRecord } from './record.ts';
import { currentPass, type HarvestOptions, listName, type Run } from './walk.ts';

/** Of which look a record is that was marked. */
const NO_LOOK = 0;
const RECORDS_AT_ONCE = 100;

/** Whether what a pass that has met all there is has not met is gone. */
export function canInferDeletion({ state, setSpec, onNote }: HarvestOptions): boolean {
  const { kind, window, look } = currentPass(state);
  // A change moves a record out of a window that ends; what was left out and has no name may be any of them.
  if (kind === 'changes' || window.untilMs !== null || state.skipped().some(isUnidentified)) return false;
  for (const identifier of state.metIn(look.number)) {
    if (identifier.includes('/id/')) continue;
    const list = listName({ setSpec });
    onNote?.(t`${list}: the service names its records in another form (${identifier}), so none is marked as vanished.`);
    return false;
  }
  return true;
}

/**
 * Writes what is kept and gone once more, as the service would have written that it was deleted. What was written is
 * not met in any look, so that nothing is written twice, and all of it is taken that comes back.
 */
export async function tombstoneMissing(run: Run): Promise<void> {
  const { state, sink, onVanished } = run;
  const unmet = onVanished === undefined ? [] : state.unmetIn(currentPass(state).look.number);
  if (unmet.length === 0) return;
  for (let first = 0; first < unmet.length; first += RECORDS_AT_ONCE) {
    const document = parseXml(tombstones(run, unmet.slice(first, first + RECORDS_AT_ONCE)));
    const records = [...descendantsOf(document.root, 'record', OAI_NAMESPACE)].flatMap((element) => parseRecord(element) ?? []);
    await sink.write({ document, records, met: records });
    state.change(() => {
      sink.commit();
      for (const { header, element } of records) {
        const digest = digestOf(bytesOf(document, element));
        state.noteMet(header.identifier, { datestampMs: header.datestampMs, digest, look: NO_LOOK, skipped: false });
      }
    });
    onVanished?.(records.length);
  }
}

function tombstones({ state, setSpec, granularity }: Run, identifiers: readonly string[]): Buffer {
  const { beganMs } = currentPass(state);
  const records = identifiers.map((identifier) => {
    // Not before the record's own last change, or the tombstone would look older than the record.
    const goneAtMs = Math.max(beganMs, state.met(identifier)?.datestampMs ?? 0);
    const content = [
      { name: 'identifier', content: identifier },
      { name: 'datestamp', content: formatUpwards(goneAtMs, granularity) },
      ...(setSpec === '' ? [] : [{ name: 'setSpec', content: setSpec }]),
    ];
    return { name: 'record', content: [{ name: 'header', attributes: { status: 'deleted' }, content }] };
  });
  const content = [{ name: 'ListRecords', content: records }];
  return buildXml({ name: 'OAI-PMH', attributes: { xmlns: OAI_NAMESPACE }, content });
}
