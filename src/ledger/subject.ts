import { UsageError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import { type Message, msg } from '../base/message.ts';
import { createRowParser, isOneOf, isText } from '../store/row.ts';
import type { Ledger } from './ledger.ts';

/** Subject of a harvest into one output, and its account. One output has one subject. */
export type Subject = ReturnType<typeof parseSubject>;
const parseSubject = createRowParser({
  oaiBase: isText,
  /** Schema version of the endpoint; `newest` for the generic one. */
  version: isText,
  /** Sorted, separated by a space; empty for everything. */
  sets: isText,
  /** Complete records, or headers only. */
  verb: isOneOf(['ListRecords', 'ListIdentifiers'] as const),
  format: isText,
  /** As the user wrote it; empty for no bound. */
  fromBound: isText,
  untilBound: isText,
  /** Empty for anonymous. The content of a record depends on it. */
  account: isText,
  /** Form of the output. */
  form: isText,
});

const LABELS: Readonly<Record<keyof Subject, Message>> = {
  oaiBase: msg`interface`,
  version: msg`schema version`,
  sets: msg`set`,
  verb: msg`verb`,
  format: msg`format`,
  fromBound: '--from',
  untilBound: '--until',
  account: msg`account`,
  form: msg`output form`,
};

export function subjectOf(ledger: Ledger): Subject | undefined {
  const row = ledger
    .sql(
      `select oai_base as oaiBase, version, sets, verb, format, from_bound as fromBound, until_bound as untilBound, account, form
       from outputs`,
    )
    .get();
  return row === undefined ? undefined : parseSubject(row);
}

/**
 * Stores the subject of a new output, or compares it with that of an existing one. Must run inside {@link Ledger.change}.
 * @throws UsageError where the output has another subject
 */
export function assertSubject(ledger: Ledger, subject: Subject, output: string): void {
  const known = isUntouched(ledger) ? undefined : subjectOf(ledger);
  if (known === undefined) {
    ledger.sql('delete from harvests').run();
    ledger
      .sql(
        `insert or replace into outputs (id, oai_base, version, sets, verb, format, from_bound, until_bound, account, form)
         values (1, :oaiBase, :version, :sets, :verb, :format, :fromBound, :untilBound, :account, :form)`,
      )
      .run(subject);
    return;
  }
  const [differing] = (Object.keys(LABELS) as (keyof Subject)[]).filter((key) => known[key] !== subject[key]);
  if (differing === undefined) return;
  const [was, is] = [known[differing], subject[differing]].map((value) => (value === '' ? t`none` : value));
  const label = LABELS[differing];
  throw new UsageError(t`${output} contains another harvest: its ${label} is ${was}, not ${is}.`, {
    hint: t`Give the same flags as before to continue it, or another --out.`,
  });
}

/** Tells if no record was ever harvested into it, for example because the service refused; then its subject may change. */
function isUntouched(ledger: Ledger): boolean {
  const touched = ledger.sql(
    `select exists (select 1 from harvests where watermark_at is not null or pass ->> '$.met' > 0)
       or exists (select 1 from met_records)`,
  );
  return touched.pluck().get() === 0;
}

/** Returns the id of the harvest of a set, created on first use. Must run inside {@link Ledger.change}. */
export function harvestOf(ledger: Ledger, setSpec: string): number {
  ledger.sql('insert or ignore into harvests (set_spec) values (?)').run(setSpec);
  return Number(ledger.sql('select id from harvests where set_spec = ?').pluck().get(setSpec));
}
