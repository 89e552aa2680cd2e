import { formatIso } from '../../base/clock.ts';
import type { ExitReason } from '../../base/errors.ts';
import { msgid, ngettext, t } from '../../base/message.ts';
import { type PulledFind, pullFinds } from '../../harvest/pull-finds.ts';
import { findNamedFinds } from '../../outbox/changes/resolve-finds.ts';
import {
  formatChange,
  formatStanding,
  toStateAtServiceJson,
} from '../../outbox/views/records-at-service.ts';
import { fetchAccountOfOutbox } from '../../push/account.ts';
import { defineCommand, type Registration } from '../command.ts';
import { type Context, type GlobalOptions, handleSignals } from '../context/context.ts';
import { fetchHarvestingAccount, openHarvestClient } from '../context/open-service.ts';
import { openUnitedOutbox } from '../context/profile-outbox.ts';
import { formatFindCount } from '../result-texts.ts';
import { withProgress } from '../terminal.ts';

type PullOptions = GlobalOptions & { readonly full?: boolean };

/** Registers `pas pull`. */
export const registerCommands: Registration = (program, run) => {
  defineCommand(
    program,
    'pull [find...]',
    t`Update the state, number, photographs, area and district of your sent finds from the service.`,
    ['pas pull', 'pas pull KH24-001', 'pas pull --full --json'],
  )
    .option('--full', t`read everything again, not only what changed`)
    .action(run(pullCommand));
};

/**
 * Reads the records of sent finds from the service, and prints those with news.
 * @returns `dataRefused` where the service sent no readable content for some, whose stored state
 * stays
 */
async function pullCommand(
  context: Context,
  wanted: readonly string[],
  options: PullOptions,
): Promise<ExitReason> {
  const { terminal, clock } = context;
  const profile = context.getProfile();
  const outbox = await openUnitedOutbox(context);
  const only =
    wanted.length === 0
      ? undefined
      : new Set(findNamedFinds(outbox, wanted).map(({ localId }) => localId));
  const interrupts = handleSignals(context, t`Stopping. Nothing was changed.`);
  await fetchHarvestingAccount(context, async (service) => fetchAccountOfOutbox(outbox, service));
  const client = await openHarvestClient(context);
  const { finds, unreadable, fromMs } = await withProgress(terminal, t`Pulling`, (onProgress) =>
    pullFinds({
      outbox,
      client,
      format: `oai_${profile.prefix}`,
      clock,
      indexAllowanceMs: profile.indexAllowanceMs,
      training: profile.kind === 'training',
      full: options.full === true,
      only,
      onProgress,
      onNote: terminal.note,
      signal: interrupts.stop,
    }),
  );
  await print(context, finds);
  terminal.printValue({
    from: formatIso(fromMs),
    finds: finds.map((each) => ({
      find: each.sent.find,
      ident_cely: each.sent.identCely,
      news: each.isNews,
      ...toStateAtServiceJson(each),
    })),
  });
  if (unreadable.length === 0) return 'done';
  const names = unreadable.map(({ find, identCely }) => `${find} (${identCely})`).join(', ');
  terminal.warn(
    t`The service sent no content that pas can read for these records, so their local copies were not changed: ${names}. Pull again later.`,
  );
  return 'dataRefused';
}

async function print(context: Context, finds: readonly PulledFind[]): Promise<void> {
  const { terminal } = context;
  if (finds.length === 0) {
    terminal.printLine(t`Nothing was sent with this profile yet.`);
    return;
  }
  const news = finds.filter(({ isNews }) => isNews);
  const header = [
    t`FIND`,
    t`IDENTIFIER`,
    t`STATE`,
    t`NUMBER`,
    t`PHOTOS`,
    t`AREA`,
    t`DISTRICT`,
    t`DIFFERS FROM THE FIND HERE`,
  ];
  if (news.length > 0) await terminal.printTable(header, news.map(formatPulledRow));
  const sent = finds.length;
  const changed = news.length;
  terminal.printLine(
    ngettext(
      msgid`${sent} sent find, ${changed} changed.`,
      `${sent} sent finds, ${changed} changed.`,
      sent,
    ),
  );
  printPullWarnings(context, finds);
}

function formatPulledRow({ sent, pulled, changes }: PulledFind): string[] {
  const { record } = pulled;
  return [
    sent.find,
    sent.identCely,
    formatStanding(pulled),
    record?.elements.evidencni_cislo?.toString() ?? '',
    record === undefined ? '' : String(record.files.length),
    record?.area?.text ?? (record?.protectedWithheld === true ? t`hidden` : ''),
    record?.district?.text ?? '',
    changes.map(formatChange).join('; '),
  ];
}

/** Warns of records that are deleted, hidden or missing, and of places that were not compared. */
function printPullWarnings({ terminal, getProfile }: Context, finds: readonly PulledFind[]): void {
  const formatFindNames = (isMeant: (pulled: PulledFind['pulled']) => boolean): string =>
    finds
      .filter(({ pulled }) => isMeant(pulled))
      .map(({ sent }) => `${sent.find} (${sent.identCely})`)
      .join(', ');
  const deleted = formatFindNames(({ standing }) => standing === 'deleted');
  const hidden = formatFindNames(({ standing }) => standing === 'withheld');
  const gone = formatFindNames(({ standing, stav }) => standing === 'missing' && stav !== null);
  const missing = formatFindNames(({ standing, stav }) => standing === 'missing' && stav === null);
  const guarded = finds.filter(({ pulled }) => pulled.record?.protectedWithheld === true).length;
  if (deleted !== '') terminal.warn(t`Deleted in the service: ${deleted}.`);
  if (hidden !== '') {
    const why = t`In the service, but not visible to this account in their current state: ${hidden}.`;
    const anonymous = t`The profile does not sign in for harvesting (oai_auth = none), so only archived finds are visible.`;
    terminal.warn(getProfile().oaiAuth === 'none' ? `${why} ${anonymous}` : why);
  }
  if (guarded > 0) {
    const guardedFinds = formatFindCount(guarded);
    terminal.warn(
      t`The location is hidden from this account and was not compared: ${guardedFinds}.`,
    );
  }
  if (gone !== '')
    terminal.warn(
      t`The service no longer lists these records; the last known values are kept: ${gone}.`,
    );
  if (missing !== '')
    terminal.warn(
      t`Not found in the harvest; the service's index may be a few minutes behind: ${missing}.`,
    );
}
