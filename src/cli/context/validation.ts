import { dirname, join, resolve } from 'node:path';
import { formatLocalDate } from '../../base/clock.ts';
import { readKept } from '../../base/disk/files.ts';
import { ConfigError } from '../../base/errors.ts';
import { isReadable } from '../../base/issue.ts';
import { t } from '../../base/language.ts';
import {
  type DocumentProfile,
  getSchemaLocation,
  openFindSchema,
  type ReadOwnSchema,
} from '../../finds/document.ts';
import { formatReferenceCell } from '../../finds/field.ts';
import type { Find, LookupTerm } from '../../finds/find.ts';
import { rememberReferences } from '../../finds/resolve-references.ts';
import { type ValidatedFind, validateFind } from '../../finds/rules.ts';
import { findTermByIdent } from '../../finds/vocabulary/terms.ts';
import {
  makePhotographKeeping,
  type PhotographKeeping,
} from '../../outbox/changes/kept-photographs.ts';
import { findKnownAccount } from '../../outbox/open-outbox.ts';
import {
  type FindDefaults,
  mergeDefaults,
  parseConstants,
  parseDefaults,
} from '../../tables/columns/settings.ts';
import {
  chooseLabel,
  type FormatReference,
  type LabelsOf,
} from '../../tables/exports/exported-find.ts';
import { withMapping } from '../../tables/own-terms/mapping.ts';
import type { AddingSources } from '../interview/add-find.ts';
import type { FinderSource } from '../interview/answer.ts';
import type { Profile } from './config.ts';
import type { Context } from './context.ts';
import { openLookups } from './open-service.ts';
import { readMappingFile } from './user-files.ts';

/**
 * Opens everything for the validation: the profile's schema, its account, the vocabularies with the
 * museum's mapping.
 */
export async function openValidationContext(context: Context) {
  const profile = context.getProfile();
  const schema = await openFindSchema(getDocumentProfile(profile), makeOwnSchemaReader(context));
  const lookups = await openLookups(context);
  const lookupTerm = withMapping(lookups.lookupTerm, await readMappingFile(context));
  const account = findKnownAccount(await context.openOutbox());
  const who =
    account === undefined ? {} : { role: account.role, organisation: account.organisation };
  return { schema, ...lookups, lookupTerm, today: formatLocalDate(context.clock.now()), ...who };
}

/** Asks on a terminal which of several people a finder is; the answers apply to this command. */
export async function askAboutFinders<Known extends { readonly lookupTerm: LookupTerm }>(
  context: Context,
  ruleContext: Known,
  named: FinderSource,
): Promise<Known> {
  if (!context.terminal.interactive || context.terminal.json) return ruleContext;
  const { chooseFinders, collectFinders: findersIn } = await import('../interview/answer.ts');
  const lookupTerm = await chooseFinders(
    await findersIn(named),
    ruleContext.lookupTerm,
    await context.prompt(),
  );
  return { ...ruleContext, lookupTerm };
}

/** Opens the labels of vocabulary entries. They are cached, since finds repeat them. */
export async function openLabels(context: Context): Promise<LabelsOf> {
  const vocabulary = (await context.openVocabularyToRead()).openSource(
    context.getProfile().oaiBase ?? '',
  );
  const labelsById = new Map<string, ReturnType<LabelsOf>>();
  return (id) => {
    if (!labelsById.has(id)) {
      const term = findTermByIdent(vocabulary, id);
      labelsById.set(
        id,
        term === undefined ? undefined : { cs: term.label, en: term.labelEn ?? '' },
      );
    }
    return labelsById.get(id);
  };
}

/**
 * Opens the words for references in a table: the label, if `pas import` reads the same entry from
 * it, else the identifier.
 */
export async function openReferenceWords(
  context: Context,
  getLabels: LabelsOf,
): Promise<FormatReference> {
  const { lookupTerm } = await openLookups(context);
  const resolve = rememberReferences(withMapping(lookupTerm, await readMappingFile(context)));
  return (field, reference) => {
    const labels = getLabels(reference.id);
    if (labels === undefined) return formatReferenceCell(reference);
    const label = chooseLabel(labels);
    const reading = resolve(field, label);
    const isSame = isReadable(reading) && reading.value.id === reference.id;
    return isSame ? label : formatReferenceCell(reference);
  };
}

/**
 * Opens schema, vocabularies and account once for many finds.
 * @throws ConfigError where the schema cannot be used
 */
export async function openValidation(context: Context): Promise<(find: Find) => ValidatedFind> {
  const ruleContext = await openValidationContext(context);
  return (find) => validateFind(find, ruleContext);
}

/**
 * Merges given values with the defaults of profile and project.
 * @throws UsageError where a value is not `element=value`
 */
export function makeProfileDefaults(context: Context, flags: readonly string[] = []): FindDefaults {
  const set = parseConstants(flags);
  const project = set.find(({ name }) => name === 'projekt')?.value;
  const defaults = mergeDefaults(
    parseDefaults(context.places.configFile, context.getConfig().defaults),
    context.getProfile().name,
    project,
  );
  return [
    ...set,
    ...defaults.filter(({ name }) => !set.some((ownSetting) => ownSetting.name === name)),
  ];
}

/** Returns the name of the account, as the service last described it. */
export async function readAccountName(context: Context): Promise<string | undefined> {
  return findKnownAccount(await context.openOutbox())?.name;
}

export async function collectEntrySources(
  context: Context,
  flags: KeepingFlags = {},
): Promise<AddingSources> {
  return {
    outbox: await context.openOutbox(),
    ruleContext: await openValidationContext(context),
    keeping: makeContextKeeping(context, flags),
    folder: context.cwd,
    profile: context.getProfile().name,
    configFile: context.places.configFile,
    defaults: context.getConfig().defaults,
  };
}

/** Opens the sources of suggestions, with the width of the terminal. */
export async function offerSources(context: Context) {
  const vocabulary = (await context.openVocabularyToRead()).openSource(
    context.getProfile().oaiBase ?? '',
  );
  return {
    vocabulary,
    mapping: await readMappingFile(context),
    columns: context.streams.stderr.columns ?? 80,
  };
}

export type KeepingFlags = { readonly stripGps?: boolean };

export function makeContextKeeping(
  context: Context,
  { stripGps = false }: KeepingFlags,
): PhotographKeeping {
  return makePhotographKeeping(context.getOutboxPlaces().photosFolder, {
    maxBytes: context.getProfile().photoMaxBytes,
    stripGps,
  });
}

/** Returns the absolute folder of photographs: that of the option, else that of the table. */
export function getPhotoRoot(tablePath: string, option: string | undefined): string {
  return option === undefined ? dirname(resolve(tablePath)) : resolve(option);
}

export function getDocumentProfile({
  prefix,
  schemaBase,
  schemaVersion,
}: Profile): DocumentProfile {
  return { prefix, schemaBase, schemaVersion };
}

/** Returns the folder of the deployment's own schema, named after its address. */
export function getOwnSchemaFolder({ places }: Context, profile: DocumentProfile): string {
  const { host, pathname } = new URL(getSchemaLocation(profile));
  const parts = [host, ...pathname.replace(/\.xsd$/, '').split('/')].filter((part) => part !== '');
  return join(
    places.schemasFolder,
    ...parts.map((part) => part.replace(/[^\w.-]/g, '_').replace(/^\.+$/, '_')),
  );
}

/** Reads the deployment's own schema as last fetched. A damaged one is not used, with a warning. */
function makeOwnSchemaReader(context: Context): ReadOwnSchema {
  return async (profile) => {
    try {
      return readKept(getOwnSchemaFolder(context, profile));
    } catch (thrown) {
      if (!(thrown instanceof ConfigError)) throw thrown;
      const hint = thrown.hint ?? '';
      context.terminal.warn(t`${thrown.message} The bundled schema is used. ${hint}`);
      return undefined;
    }
  };
}
