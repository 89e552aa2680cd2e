import { ControlRefusal } from '../base/http-message.ts';
import { flag, object } from '../base/shape.ts';
import type { Mock } from '../state/mock.ts';
import {
  FAULT_OPTIONS,
  FAULTS,
  type FaultEndpoint,
  type FaultName,
  type FaultOption,
  type FaultRule,
  readFaultRule,
  readFaultRules,
} from '../state/parse-fault-rules.ts';

type Call = { readonly body: unknown; readonly segment: string };

const MEANINGS: Readonly<Record<FaultName, string>> = {
  '500-before-save': 'Answers 500; nothing is saved.',
  '500-after-save': 'Saves, then answers 500.',
  'hang-before-save': 'Never answers; nothing is saved.',
  'hang-after-save': 'Saves, then never answers.',
  'reset-before-save': 'Cuts the connection; nothing is saved.',
  'reset-after-save': 'Saves, then cuts the connection.',
  'status-before-save': 'Answers with another status and a JSON detail; nothing is saved.',
  'status-after-save': 'Saves, then answers with another status and a JSON detail.',
  '502': 'A gateway answers 502 with a web page.',
  '503': 'The interface is closed.',
  '504': 'A gateway answers 504 with a web page.',
  throttle: 'Refused as too frequent: 429.',
  lock: 'Another operation seems to hold the record: 429.',
  slow: 'Works, but takes its time.',
  truncate: 'The answer breaks off half-way.',
  malformed: 'The status is right, the body is nonsense.',
  'token-expired': 'The token counts as expired.',
  'antivirus-down': 'The virus scanner fails: 500.',
  virus: 'The virus scanner finds something: 422.',
  'bad-resumption-token': 'The resumption token counts as unknown.',
  'oai-503': 'The harvesting interface is out of service: 503 with a web page.',
};

/** Lists every fault that a rule may have, with its effect, its endpoints and its options. */
export function listFaultCatalogue(): ReadonlyArray<{
  readonly fault: string;
  readonly meaning: string;
  readonly endpoints: readonly FaultEndpoint[];
  readonly options: readonly FaultOption[];
}> {
  return (Object.keys(FAULTS) as FaultName[]).map((fault) => ({
    fault,
    meaning: MEANINGS[fault],
    endpoints: FAULTS[fault],
    options: FAULT_OPTIONS[fault] ?? [],
  }));
}

/**
 * Replaces all rules, and returns them; their counters start again.
 * @throws ShapeError
 */
export function setFaults(mock: Mock, { body }: Call): unknown {
  mock.faults.set(readFaultRules(body));
  return mock.faults.list();
}

/**
 * Adds one rule, and returns all; the counters of the others continue.
 * @throws ShapeError
 */
export function addFault(mock: Mock, { body }: Call): unknown {
  const rule: FaultRule = readFaultRule(body);
  mock.faults.add(rule);
  return mock.faults.list();
}

/**
 * Switches one rule on or off: `{"active": false}`.
 * @throws ShapeError, ControlRefusal
 */
export function switchFault(mock: Mock, { body, segment }: Call): unknown {
  const { active } = object({ active: flag })(body);
  if (!mock.faults.switch(Number(segment), active))
    throw new ControlRefusal(404, `there is no fault rule ${segment}`);
  return mock.faults.list();
}

/** @throws ControlRefusal */
export function removeFault(mock: Mock, { segment }: Call): unknown {
  if (!mock.faults.remove(Number(segment)))
    throw new ControlRefusal(404, `there is no fault rule ${segment}`);
  return mock.faults.list();
}

export function clearFaults(mock: Mock): unknown {
  mock.faults.set([]);
  return mock.faults.list();
}
