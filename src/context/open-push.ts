import { t } from '../base/language.ts';
import type { Photograph } from '../outbox/entry.ts';
import { openKeptPhotograph } from '../push/departure.ts';
import { type Context, installSignalHandlers } from './context.ts';
import { openSync } from './open-service.ts';
import { openPace } from './pacing.ts';

const DAY_MS = 24 * 3600 * 1000;

/** Opens everything that a push needs, by the profile. Ctrl-C stops it, and then aborts it. */
export async function openPush(context: Context) {
  const profile = context.getProfile();
  const { photosFolder } = context.getOutboxPlaces();
  const { maxInFlight, answerTimeoutMs, settleMs, lookBackDays } = profile;
  return {
    ...installSignalHandlers(
      context,
      t`Waiting for requests in progress. Press Ctrl-C again to abort them.`,
    ),
    ...(await openSync(context)),
    pace: await openPace(context, profile),
    machine: context.getMachineId(),
    openPhotograph: (photograph: Photograph) => openKeptPhotograph(photosFolder, photograph),
    lookBackMs: lookBackDays * DAY_MS,
    maxInFlight,
    answerTimeoutMs,
    settleMs,
  };
}
