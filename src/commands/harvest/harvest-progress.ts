import { t } from '../../base/language.ts';
import { cmd } from '../../base/message.ts';
import { isNeededByImports } from '../../flows/harvest/harvest-vocabulary.ts';
import { formatSetName, type SetResult } from '../../flows/harvest/service-lists.ts';
import { withoutFullStop } from '../../text/characters.ts';
import type { Terminal } from '../../ui/terminal.ts';

/** Describes a record that `--skip-broken` leaves out. */
export function formatLeftOut(identifier: string | null | undefined, sentence: string): string {
  const record = identifier ?? t`a record`;
  const reason = withoutFullStop(sentence);
  return t`Skipped ${record}: ${reason}.`;
}

/** Makes the JSON of a set's result. */
export function toSetJson({ setSpec, unconfirmed, ...figures }: SetResult) {
  return { set: setSpec || null, ...figures, kept_in_doubt: unconfirmed?.kind ?? null };
}

const MAX_NAMED = 5;

/**
 * Prints the sets with unconfirmed losses.
 * @returns true if the harvest is therefore incomplete
 */
export function warnOfUnconfirmedLosses(
  terminal: Terminal,
  sets: readonly SetResult[],
  command: 'harvest' | 'harvest-vocab',
): boolean {
  let isIncomplete = false;
  for (const { setSpec, unconfirmed } of sets) {
    if (unconfirmed === undefined) continue;
    const name = formatSetName(setSpec);
    isIncomplete ||= unconfirmed.kind === 'losses' || isNeededByImports(setSpec);
    if (unconfirmed.kind === 'empty') {
      terminal.warn(
        setSpec === ''
          ? t`The service lists no records. The next run reads everything again.`
          : t`${name}: the service lists this set but no records in it. The next run reads it in full.`,
      );
      continue;
    }
    const { lost, held, inUse } = unconfirmed;
    const used = inUse.slice(0, MAX_NAMED).join(', ');
    const inUseText = used === '' ? '' : t` Finds or the mapping use ${used}.`;
    const flag = cmd`--accept-losses`;
    const again = command === 'harvest' ? cmd`pas harvest` : cmd`pas harvest-vocab`;
    terminal.warn(
      t`${name}: the service no longer lists ${lost} of ${held} records; its index may be being rebuilt. All are kept.${inUseText} Run \`${again}\` again in an hour, or add ${flag} if they are really gone.`,
    );
  }
  return isIncomplete;
}
