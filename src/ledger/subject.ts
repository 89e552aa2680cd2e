import { UsageError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import { type Message, msg } from '../base/message.ts';
import type { Ledger } from './ledger.ts';

/** What is harvested into one output, and as whom. Two harvests of different subjects are never mixed in one output. */
export type Subject = {
  readonly oaiBase: string;
  /** Schema version of the endpoint; `newest` for the generic one. */
  readonly version: string;
  /** In order, with a space between them; empty: all that the service has. */
  readonly sets: string;
  /** Whole records, or their headers alone. */
  readonly verb: 'ListRecords' | 'ListIdentifiers';
  readonly format: string;
  /** As the user gave it; empty: no bound. */
  readonly fromBound: string;
  readonly untilBound: string;
  /** Empty: anonymous. What a record shows depends on it. */
  readonly account: string;
  /** In what it is written. */
  readonly form: string;
};

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
  return ledger
    .sql(
      `select oai_base as oaiBase, version, sets, verb, format, from_bound as fromBound, until_bound as untilBound, account, form
       from outputs`,
    )
    .get() as Subject | undefined;
}

/**
 * Notes what a new output is for, or holds it against what an old one is for. Expects to run inside {@link Ledger.change}.
 * @throws UsageError where the output holds something else
 */
export function settleSubject(ledger: Ledger, subject: Subject, output: string): void {
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
  throw new UsageError(t`${output} holds another harvest: its ${label} is ${was}, not ${is}.`, {
    hint: t`Give the same flags as before to go on with it, or another --out.`,
  });
}

/** Nothing was ever harvested into it, perhaps because the service refused: it may as well be for something else. */
function isUntouched(ledger: Ledger): boolean {
  const touched = ledger.sql(
    `select exists (select 1 from harvests where watermark_at is not null or pass ->> '$.met' > 0)
       or exists (select 1 from met_records)`,
  );
  return touched.pluck().get() === 0;
}

/** Number of the notes of one set; made where there are none. Expects to run inside {@link Ledger.change}. */
export function harvestOf(ledger: Ledger, setSpec: string): number {
  ledger.sql('insert or ignore into harvests (set_spec) values (?)').run(setSpec);
  return Number(ledger.sql('select id from harvests where set_spec = ?').pluck().get(setSpec));
}
