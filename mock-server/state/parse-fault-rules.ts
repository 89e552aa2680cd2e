import {
  array,
  check,
  flag,
  integer,
  number,
  object,
  optional,
  type Reader,
  readOneOf,
  text,
} from '../base/shape.ts';

const FAULT_ENDPOINTS = [
  'import',
  'number',
  'photo',
  'token',
  'user-info',
  'oai',
  'download',
] as const;
/** Part of the service to which a rule applies. */
export type FaultEndpoint = (typeof FAULT_ENDPOINTS)[number];

const WRITES = ['import', 'number', 'photo'] as const;
const LOCKED = ['number', 'photo'] as const;

/**
 * Endpoints of each fault. Reads save nothing, so `-before-save` and `-after-save` hardly differ
 * there.
 */
export const FAULTS = {
  '500-before-save': FAULT_ENDPOINTS,
  '500-after-save': FAULT_ENDPOINTS,
  'hang-before-save': FAULT_ENDPOINTS,
  'hang-after-save': FAULT_ENDPOINTS,
  'reset-before-save': FAULT_ENDPOINTS,
  'reset-after-save': FAULT_ENDPOINTS,
  'status-before-save': FAULT_ENDPOINTS,
  'status-after-save': FAULT_ENDPOINTS,
  '502': FAULT_ENDPOINTS,
  '503': FAULT_ENDPOINTS,
  '504': FAULT_ENDPOINTS,
  throttle: FAULT_ENDPOINTS,
  lock: LOCKED,
  slow: FAULT_ENDPOINTS,
  truncate: FAULT_ENDPOINTS,
  malformed: FAULT_ENDPOINTS,
  'token-expired': [...WRITES, 'token', 'user-info', 'oai'],
  'antivirus-down': ['photo'],
  virus: ['photo'],
  'bad-resumption-token': ['oai'],
  'oai-503': ['oai'],
} as const satisfies Record<string, readonly FaultEndpoint[]>;
/** Name of a fault, of {@link FAULTS}. */
export type FaultName = keyof typeof FAULTS;

const OPTION_NAMES = ['retry_after', 'ms', 'status', 'at'] as const;
/** Member of a rule beside its condition. */
export type FaultOption = (typeof OPTION_NAMES)[number];

/** Options of the faults that have any. */
export const FAULT_OPTIONS: Readonly<Partial<Record<FaultName, readonly FaultOption[]>>> = {
  '503': ['retry_after'],
  'oai-503': ['retry_after'],
  throttle: ['retry_after'],
  'status-before-save': ['status'],
  'status-after-save': ['status'],
  slow: ['ms', 'at'],
};

/** Condition of a rule; all members must hold. Without any it always triggers. */
const condition = object({
  /** The n-th request of the endpoint since the rule was set, from 1. */
  nth: optional(integer({ min: 1 })),
  every: optional(integer({ min: 1 })),
  probability: optional(number({ min: 0, max: 1 })),
  /** Makes `probability` reproducible. */
  seed: optional(integer({})),
  /**
   * Identifier in the path of a number or photograph; record or set of a harvesting request; find
   * of a download.
   */
  ident: optional(text({ min: 1 })),
});

const rule = object({
  endpoint: readOneOf(FAULT_ENDPOINTS),
  fault: readOneOf(Object.keys(FAULTS) as FaultName[]),
  when: optional(condition),
  /** Maximum number of times that it triggers; default: as often as its condition holds. */
  times: optional(integer({ min: 1 })),
  /** Seconds, for `throttle` and `503`; absent: no such header. */
  retry_after: optional(integer({ min: 0 })),
  /** Delay of `slow`, in milliseconds; default 2000. */
  ms: optional(integer({ min: 0, max: 3_600_000 })),
  /** Status of `status-before-save` and `status-after-save`; default 409. */
  status: optional(integer({ min: 400, max: 599 })),
  /**
   * Point at which `slow` waits: before the operation (`start`), or inside it, holding its lock,
   * just before saving (`save`).
   */
  at: optional(readOneOf(['start', 'save'] as const)),
  /** False: neither counts nor triggers until it is switched on. */
  active: optional(flag),
});
/** A rule as an operator writes it: an endpoint, a fault, and when it applies. */
export type FaultRule = Readonly<ReturnType<typeof rule>>;

/** @throws ShapeError with the place and the reason */
export const readFaultRule: Reader<FaultRule> = check(
  rule,
  ({ endpoint, fault, when, ...options }) => {
    const idle = OPTION_NAMES.find(
      (name) => options[name] !== undefined && FAULT_OPTIONS[fault]?.includes(name) !== true,
    );
    if (idle !== undefined) return `"${idle}" means nothing for fault "${fault}"`;
    if (when?.ident !== undefined && !['number', 'photo', 'oai', 'download'].includes(endpoint)) {
      return `"ident" means nothing on endpoint "${endpoint}"`;
    }
    const endpoints: readonly FaultEndpoint[] = FAULTS[fault];
    return endpoints.includes(endpoint)
      ? undefined
      : `fault "${fault}" does not exist on endpoint "${endpoint}", only on ${endpoints.join(', ')}`;
  },
);

/** @throws ShapeError with the place and the reason */
export const readFaultRules: Reader<FaultRule[]> = array(readFaultRule);
