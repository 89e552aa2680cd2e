import { formatLocalDate, systemClock } from '../base/clock.ts';
import type { DocumentProfile } from '../find/build-document.ts';
import { openFindSchema } from '../find/find-schema.ts';
import type { ValidationContext } from '../find/rules.ts';
import type { Role } from '../pas-api/session.ts';
import { checkAddress } from './connection.ts';

/** Form of the documents, and what they are checked against. */
export type DocumentOptions = {
  /** `{schema_base}`: address of the schema in the documents. */
  readonly schemaBase: string;
  /** Default `svc`; a deployment may have its own. */
  readonly prefix?: string;
  /** Default `2.2`. */
  readonly schemaVersion?: string;
  /** Name of that account's organisation, as the service writes it. */
  readonly organisation?: string;
  /** Result of `pas harvest-vocab`. Without it, terms and places are not checked. */
  readonly vocabulary?: { readonly file: string; readonly oaiBase: string };
};

export type CheckOptions = DocumentOptions & {
  /** Role of the account that will send. Without it, rules that depend on it are not checked. */
  readonly role?: Role;
};

type Knowledge = {
  /** Returns the context of the rules for today. */
  readonly makeRuleContext: () => ValidationContext;
  readonly close: () => void;
};

/** Opens the data for the checks. @throws ConfigError where pas has no schema of that version */
export async function openKnowledge(options: CheckOptions): Promise<Knowledge> {
  const schema = await openFindSchema(toDocumentProfile(options));
  const vocabulary = await openLookups(options.vocabulary);
  const { role, organisation } = options;
  return {
    makeRuleContext: () => ({
      schema,
      today: formatLocalDate(systemClock.now()),
      ...(role === undefined ? {} : { role }),
      ...(organisation === undefined ? {} : { organisation }),
      ...vocabulary.lookups,
    }),
    close: () => {
      schema[Symbol.dispose]();
      vocabulary.close();
    },
  };
}

function toDocumentProfile(options: CheckOptions): DocumentProfile {
  return {
    prefix: options.prefix ?? 'svc',
    // The address is only a name, so it needs no TLS.
    schemaBase: checkAddress('schemaBase', options.schemaBase, true),
    schemaVersion: options.schemaVersion ?? '2.2',
  };
}

async function openLookups(from: CheckOptions['vocabulary']) {
  if (from === undefined) return { lookups: undefined, close: () => {} };
  const { openVocabulary } = await import('../vocabulary/vocabulary-store.ts');
  const store = openVocabulary(from.file, systemClock);
  return { lookups: store.makeLookups(from.oaiBase), close: () => store.close() };
}
