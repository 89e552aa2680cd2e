import type { MockClock } from '../base/clock.ts';
import { type Answer, HttpError } from '../base/http-message.ts';
import type { Say } from '../base/messages.ts';
import { makeDetailAnswer, makeHtmlPage } from '../base/problem.ts';
import type { FaultRule } from '../state/parse-fault-rules.ts';

/** Ends the connection without an answer: by a reset, or left open until the client disconnects. */
export class SimulatedDisconnect extends Error {
  readonly kind: 'hang' | 'reset';
  constructor(kind: 'hang' | 'reset') {
    super(kind);
    this.name = 'SimulatedDisconnect';
    this.kind = kind;
  }
}

/**
 * Points of an operation at which a fault may be triggered: before anything is stored, and after
 * the commit.
 */
export type Hooks = {
  /** Undefined where there is nothing to wait for: then no other request runs before the save. */
  beforeSave(): Promise<void> | undefined;
  afterSave(): void;
};

/** Hooks of a request without a fault. */
const NO_HOOKS: Hooks = { beforeSave: () => undefined, afterSave: () => {} };

/** An answer that is sent truncated: half of the body under its full length. */
export type SentAnswer = Answer & { readonly truncated?: true };

/**
 * Runs an operation under a fault. Faults before and after saving are triggered at the operation's
 * hooks; an operation that saves nothing may ignore them, and the faults are then triggered before
 * and after it.
 */
export async function runUnderFault(
  fault: FaultRule | undefined,
  { clock, say }: { readonly clock: MockClock; readonly say: Say },
  operation: (hooks: Hooks) => Promise<Answer> | Answer,
): Promise<SentAnswer> {
  if (fault === undefined) return operation(NO_HOOKS);
  const early = answerInstead(fault, say);
  if (early !== undefined) return early;
  if (fault.fault === 'slow' && fault.at !== 'save') await clock.sleep(fault.ms ?? 2000);
  let struck = false;
  const hooks: Hooks = {
    beforeSave: async () => {
      if (fault.fault === 'slow' && fault.at === 'save') await clock.sleep(fault.ms ?? 2000);
      trigger(fault, '-before-save', say);
    },
    afterSave: () => {
      struck = true;
      trigger(fault, '-after-save', say);
    },
  };
  const answer = await operation(hooks);
  // A refused request never reached its save, so the fault is not triggered.
  if (!struck && answer.status < 400) {
    await hooks.beforeSave();
    hooks.afterSave();
  }
  if (fault.fault === 'truncate') return { ...answer, truncated: true };
  return fault.fault === 'malformed' ? makeNonsense(answer) : answer;
}

function trigger(fault: FaultRule, point: '-before-save' | '-after-save', say: Say): void {
  if (fault.fault === `hang${point}`) throw new SimulatedDisconnect('hang');
  if (fault.fault === `reset${point}`) throw new SimulatedDisconnect('reset');
  if (fault.fault === `status${point}`)
    throw new HttpError(makeDetailAnswer(fault.status ?? 409, say('fault-other')));
  if (fault.fault !== `500${point}`) return;
  throw new HttpError(
    isAnsweredInJson(fault)
      ? makeDetailAnswer(500, say('fault-failed'))
      : makeHtmlPage(500, 'Internal Server Error'),
  );
}

function isAnsweredInJson({ endpoint }: FaultRule): boolean {
  return endpoint === 'import' || endpoint === 'number' || endpoint === 'photo';
}

/** Returns the answer of faults that replace the operation, as a proxy would. */
function answerInstead(fault: FaultRule, say: Say): Answer | undefined {
  const retryAfter =
    fault.retry_after === undefined ? undefined : { 'retry-after': String(fault.retry_after) };
  const isJson = isAnsweredInJson(fault);
  switch (fault.fault) {
    case '502':
      return makeHtmlPage(502, 'Bad Gateway');
    case '504':
      return makeHtmlPage(504, 'Gateway Time-out');
    case '503':
    case 'oai-503':
      return isJson
        ? makeDetailAnswer(503, say('fault-closed'), retryAfter)
        : makeHtmlPage(503, 'Service Temporarily Unavailable', retryAfter);
    case 'throttle':
      return isJson
        ? makeDetailAnswer(429, say('fault-throttled'), retryAfter)
        : makeHtmlPage(429, 'Too Many Requests', retryAfter);
    default:
      return undefined;
  }
}

/** Replaces the body by one that contradicts the headers. */
function makeNonsense(answer: Answer): Answer {
  return { ...answer, body: '<html><body>Something else answered.<br></html' };
}
