import { t } from '../base/language.ts';
import { cmd } from '../base/message.ts';
import type { NextStep, ReportState } from './report-model.ts';

/** Changes of a find besides its import, by state. */
type Changes = { readonly queued: number; readonly refused: number; readonly uncertain: number };

type Situation = {
  readonly localId: string;
  readonly state: ReportState;
  readonly photographsSent: number;
  /** Photographs and registration numbers. */
  readonly changes: Changes;
  /** A pull has found the record. */
  readonly pulled: boolean;
};

/** Returns the next actions for a find; empty where it only has to wait, or is done. */
export function listNextSteps({ localId: find, state, photographsSent, changes, pulled }: Situation): NextStep[] {
  return [
    ...listSteps(state, find),
    ...(changes.refused > 0 && state !== 'refused'
      ? [{ text: t`A photograph or number of it was refused: see why.`, command: cmd`pas show ${find}` }]
      : []),
    ...(changes.uncertain > 0 && state !== 'uncertain'
      ? [
          {
            text: t`pas cannot tell if a photograph or number of it arrived. Look it up:`,
            command: cmd`pas reconcile ${find}`,
          },
        ]
      : []),
    ...(changes.queued > 0 && isAtService(state)
      ? [{ text: t`Send its waiting photographs and numbers.`, command: cmd`pas push ${find}` }]
      : []),
    ...(photographsSent === 0 && changes.queued === 0 && (state === 'submitted' || state === 'confirmed')
      ? [{ text: t`Add a photograph: the service archives no find without one.`, command: cmd`pas photo add ${find} FILE` }]
      : []),
    ...(!pulled && isAtService(state) ? [{ text: t`Ask the service for its current state.`, command: cmd`pas pull` }] : []),
  ];
}

function isAtService(state: ReportState): boolean {
  return state === 'registered' || state === 'submitted' || state === 'confirmed' || state === 'archived';
}

function listSteps(state: ReportState, find: string): NextStep[] {
  const steps: Partial<Record<ReportState, NextStep[]>> = {
    draft: [
      { text: t`Complete its row in the table and import the table again, or complete it here:`, command: cmd`pas edit ${find}` },
    ],
    refused: [
      { text: t`Correct its row in the table and import the table again, or correct it here:`, command: cmd`pas edit ${find}` },
      { text: t`If the cause was at the service, send the same again:`, command: cmd`pas resolve ${find} --resend` },
    ],
    uncertain: [{ text: t`pas cannot tell if the service has it. Look it up:`, command: cmd`pas reconcile ${find}` }],
    queued: [{ text: t`Send it when you are online.`, command: cmd`pas push ${find}` }],
    gone: [{ text: t`See what happened to it, and ask the operator of the service.`, command: cmd`pas show ${find}` }],
    unsent: [{ text: t`Import its table again under this profile to queue it.` }],
  };
  return steps[state] ?? [];
}
