import { isRefusal, type MessageKey } from '../base/messages.ts';
import { check, type Reader, text } from '../base/shape.ts';

type ClausesOfRules = Partial<Readonly<Record<MessageKey | 'schema', string>>>;

/** Rules of refusals with their clauses in docs/contract, by the name of their part. */
const PARTS: Readonly<Record<string, ClausesOfRules>> = {
  'Authentication, Interface A, 1': {
    'token-missing': 'A-AUTH-15',
    'token-unknown': 'A-AUTH-15',
    'token-expired': 'A-AUTH-15',
    'bad-credentials': 'A-AUTH-10',
    'field-required': 'A-AUTH-10',
  },
  'Authentication, Interface A, 3': {
    'project-refused': 'A-PROJECT-1',
    'find-refused': 'A-PROJECT-8',
  },
  'Authentication, Interface A, 4': {
    'state-refused': 'A-PROJECT-2',
  },
  'Authentication, Interface A, 5': {
    'account-inactive': 'A-AUTH-11',
    closed: 'A-GATE-1',
    'address-refused': 'A-GATE-9',
    'user-refused': 'A-GATE-9',
    'no-whitelist': 'A-GATE-8',
  },
  'Limits, 1': {
    throttled: 'A-RATE-5',
    'throttled-always': 'A-RATE-18',
  },
  'Limits, 3': {
    'record-locked': 'A-LOCK-2',
  },
  'Endpoints, Interface A': {
    'method-not-allowed': 'A-GATE-13',
    'not-found': 'A-GATE-2',
    'media-type': 'A-GATE-14',
    'multipart-malformed': 'A-GATE-14',
    'file-missing': 'A-WIRE-1',
    'file-many': 'A-WIRE-1',
  },
  'Endpoints, File integrity header': {
    'digest-missing': 'A-DIGEST-1',
    'digest-malformed': 'A-DIGEST-3',
    'digest-base64': 'A-DIGEST-3',
    'digest-mismatch': 'A-DIGEST-2',
  },
  'Endpoints, POST import-xml, 1': {
    'xml-malformed': 'A-IMPORT-11',
    schema: 'A-DECLARE-5',
    'schema-unreachable': 'A-IMPORT-10',
    'project-unknown': 'A-IMPORT-13',
  },
  'Endpoints, POST import-xml, 2': {
    'root-empty': 'A-IMPORT-11',
    'root-many': 'A-IMPORT-2',
    'root-content': 'A-IMPORT-2',
  },
  'Resources, Find import document': {
    'schema-prefix': 'A-DECLARE-2',
    'schema-location-missing': 'A-DECLARE-3',
    'schema-location-odd': 'A-DECLARE-3',
    'schema-location-wrong': 'A-DECLARE-1',
    'schema-version': 'A-DECLARE-4',
    'finder-text': 'A-FINDER-1',
    'project-empty': 'A-FIELD-7',
    'ident-not-tba': 'A-FIELD-5',
    'geom-system': 'A-FIELD-21',
    'wkt-epsg': 'A-POINT-3',
    'wkt-syntax': 'A-POINT-4',
    'wkt-range': 'A-POINT-6',
    'person-unknown': 'A-IMPORT-19',
    'entry-unknown': 'A-FIELD-2',
    'organisation-unknown': 'A-FIELD-20',
    'depth-range': 'A-VALUE-3',
    'date-form': 'A-VALUE-6',
  },
  'States and transitions': {
    'state-range': 'A-FIELD-18',
    'geometry-required': 'A-POINT-1',
    'state-3-missing': 'A-STATE-12',
    'handover-required': 'A-FIELD-19',
    'outside-areas': 'A-POINT-11',
    incomplete: 'A-STATE-10',
  },
  'Endpoints, PATCH evidencni-cislo, 1': {
    'find-unknown': 'A-PROJECT-8',
  },
  'Endpoints, PATCH evidencni-cislo, 2': {
    'number-missing': 'A-NUMBER-8',
    'number-empty': 'A-NUMBER-2',
    'number-long': 'A-NUMBER-6',
    'number-same': 'A-NUMBER-15',
  },
  'Endpoints, POST upload-foto, 2': {
    'photo-large': 'A-PHOTO-7',
    'photo-encrypted': 'A-PHOTO-20',
    'photo-type': 'A-PHOTO-6',
    'photo-unrecognised': 'A-PHOTO-19',
    virus: 'A-PHOTO-2',
    'photo-names': 'A-FILE-2',
    'photo-name': 'A-PHOTO-2',
  },
  'Errors, Interface A': {
    'storage-failed': 'A-ERROR-10',
    'read-back-failed': 'A-ERROR-10',
    'antivirus-down': 'A-PHOTO-14',
  },
};

/** Rules of unnamed parts. */
const OTHERS: ClausesOfRules = {
  'body-malformed': 'A-AUTH-2',
  'not-acceptable': 'A-GATE-7',
  collision: 'A-ASSIGN-4',
  'numbers-exhausted': 'A-ASSIGN-3',
};

/** The errors of OAI-PMH 2.0, section 3.6. */
const PROTOCOL = {
  badVerb: 'B-ERROR-2',
  badArgument: 'B-ERROR-3',
  cannotDisseminateFormat: 'B-ERROR-4',
  badResumptionToken: 'B-ERROR-5',
  idDoesNotExist: 'B-ERROR-6',
  noRecordsMatch: 'B-ERROR-7',
  noMetadataFormats: 'B-ERROR-1',
  noSetHierarchy: 'B-ERROR-1',
} as const;
/** Error codes of OAI-PMH that can arise here. */
export type ProtocolErrorCode = keyof typeof PROTOCOL;

/**
 * A rule in the journal: `clause` names its part in words, `clause_id` is its clause in
 * docs/contract.
 */
type RuleView = {
  readonly rule: string;
  readonly clause: string | null;
  readonly clause_id: string | null;
};

const VIEWS: ReadonlyMap<string, RuleView> = new Map(
  [
    ...Object.entries(PARTS),
    ['', OTHERS] as const,
    ['OAI-PMH 2.0, 3.6', PROTOCOL] as const,
  ].flatMap(([part, rules]) =>
    Object.entries(rules).map(
      ([rule, id]) => [rule, { rule, clause: part === '' ? null : part, clause_id: id }] as const,
    ),
  ),
);

/** Returns the contract clause of a rule; null where it has none. */
export function viewRule(rule: string): RuleView {
  return VIEWS.get(rule) ?? { rule, clause: null, clause_id: null };
}

/** Reads the name of a rule of a refusal: an assertion about an unknown one would always hold. */
export const readRule: Reader<string> = check(text({ min: 1 }), (rule) =>
  VIEWS.has(rule) || isRefusal(rule) ? undefined : `no rule is called ${rule}`,
);
