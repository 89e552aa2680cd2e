import { isRefusal, type MessageKey } from './messages.ts';
import { ERROR_CODES } from './oai/protocol.ts';
import { check, type Reader, text } from './shape.ts';

/** The parts of the contract, and the rules that each of them holds. What is of no part is the service's own. */
const CLAUSES: Readonly<Record<string, readonly (MessageKey | 'schema')[]>> = {
  'Authentication, Interface A, 1': ['token-missing', 'token-unknown', 'token-expired', 'bad-credentials', 'field-required'],
  'Authentication, Interface A, 3': ['project-refused', 'find-refused'],
  'Authentication, Interface A, 4': ['state-refused'],
  'Authentication, Interface A, 5': ['closed', 'account-inactive', 'address-refused', 'user-refused', 'no-whitelist'],
  'Limits, 1': ['throttled', 'throttled-always'],
  'Limits, 3': ['record-locked'],
  'Endpoints, Interface A': ['method-not-allowed', 'not-found', 'media-type', 'multipart-malformed', 'file-missing', 'file-many'],
  'Endpoints, File integrity header': ['digest-missing', 'digest-malformed', 'digest-base64', 'digest-mismatch'],
  'Endpoints, POST import-xml, 1': ['xml-malformed', 'schema', 'schema-unreachable', 'project-unknown'],
  'Endpoints, POST import-xml, 2': ['root-empty', 'root-many', 'root-content'],
  'Resources, Find import document': [
    'schema-prefix',
    'schema-location-missing',
    'schema-location-odd',
    'schema-location-wrong',
    'schema-version',
    'finder-text',
    'project-empty',
    'ident-not-tba',
    'geom-system',
    'wkt-epsg',
    'wkt-syntax',
    'wkt-range',
    'person-unknown',
    'entry-unknown',
    'organisation-unknown',
    'depth-range',
    'date-form',
  ],
  'States and transitions': [
    'state-range',
    'geometry-required',
    'state-3-missing',
    'handover-required',
    'outside-areas',
    'incomplete',
  ],
  'Endpoints, PATCH evidencni-cislo, 1': ['find-unknown'],
  'Endpoints, PATCH evidencni-cislo, 2': ['number-missing', 'number-empty', 'number-long', 'number-same'],
  'Endpoints, POST upload-foto, 2': [
    'photo-large',
    'photo-encrypted',
    'photo-type',
    'photo-unrecognised',
    'virus',
    'photo-names',
    'photo-name',
  ],
  'Errors, Interface A': ['storage-failed', 'read-back-failed', 'antivirus-down'],
};

const CLAUSE_OF: ReadonlyMap<string, string> = new Map([
  ...Object.entries(CLAUSES).flatMap(([clause, rules]) => rules.map((rule) => [rule, clause] as const)),
  ...ERROR_CODES.map((code) => [code, 'OAI-PMH 2.0, 3.6'] as const),
]);

/** The part of the contract that holds a rule; null for what only the deployed service does. */
export function clauseOf(rule: string): string | null {
  return CLAUSE_OF.get(rule) ?? null;
}

/** The name of a rule that refuses: what nothing is called would never be met, and an assertion about it would always hold. */
export const readRule: Reader<string> = check(text({ min: 1 }), (rule) =>
  CLAUSE_OF.has(rule) || isRefusal(rule) ? undefined : `no rule is called ${rule}`,
);
