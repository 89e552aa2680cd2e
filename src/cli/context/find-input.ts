import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { formatLocalDate } from '../../base/clock.ts';
import { ConfigError, UsageError } from '../../base/errors.ts';
import { cmd, t } from '../../base/message.ts';
import {
  type DocumentProfile,
  getSchemaLocation,
  openFindSchema,
  type ReadOwnSchema,
} from '../../finds/document.ts';
import type { Find, LookupTerm } from '../../finds/find.ts';
import { type ValidatedFind, validateFind } from '../../finds/rules.ts';
import { readKeptSchema } from '../../harvest/update-schema.ts';
import {
  makePhotographKeeping,
  type PhotographKeeping,
} from '../../outbox/changes/kept-photographs.ts';
import { findKnownAccount } from '../../outbox/open-outbox.ts';
import { listIdentifiersOfUnacceptedFinds } from '../../outbox/views/outbox-status.ts';
import type { ColumnMap } from '../../tables/columns/column-meaning.ts';
import {
  type FindDefaults,
  mergeDefaults,
  parseDefaults,
  parseFixedValues,
} from '../../tables/columns/settings.ts';
import { parseHeaderRows } from '../../tables/header-row.ts';
import { readInputFile, readPipe } from '../../tables/input-file.ts';
import { type Mapping, readMappingFile, readSoundMapping } from '../../tables/own-terms/mapping.ts';
import { parseTableBytes, readTable } from '../../tables/readers.ts';
import type { Table } from '../../tables/table.ts';
import type { OfferTerms } from '../interview/answer.ts';
import { printIssues } from '../terminal.ts';
import type { Context } from './context.ts';
import { openMappedLookup, openProfileVocabulary, openVocabularyLookups } from './open-service.ts';

/**
 * Opens what the validation of finds needs, except `lookupNumber`, which compares numbers with
 * other finds: the profile's schema, the account as the service last described it (undefined before
 * the first sign-in), the harvested vocabularies with the museum's mapping, and the day of this
 * machine. Nothing is requested.
 * @param mapping as for {@link openMappedLookup}
 * @throws ConfigError where the schema or the profile cannot be used; DatabaseError where outbox or
 * vocabulary cannot
 */
export async function openValidationContext(context: Context, mapping?: Mapping) {
  const profile = context.getProfile();
  const schema = await openFindSchema(profile, makeOwnSchemaReader(context));
  const lookups = await openVocabularyLookups(context);
  const account = findKnownAccount(await context.openOutbox());
  return {
    schema,
    ...lookups,
    lookupTerm: await openMappedLookup(context, mapping),
    role: account?.role,
    organisation: account?.organisation,
    today: formatLocalDate(context.clock.now()),
  };
}

/**
 * Opens what {@link openValidationContext} does, to convert texts to entries as well.
 * @throws UsageError where the mapping has an error; as {@link openValidationContext}
 */
export async function openConversionContext(context: Context) {
  return openValidationContext(context, await readSoundMapping(context.places.mappingFile));
}

/**
 * Opens the function that validates a find, for many finds; nothing is stored, and numbers are not
 * compared with those of other finds.
 * @throws ConfigError, DatabaseError as {@link openValidationContext}
 */
export async function openFindValidator(context: Context): Promise<(find: Find) => ValidatedFind> {
  const ruleContext = await openValidationContext(context);
  return (find) => validateFind(find, ruleContext);
}

/**
 * Lists the values to prefill in each find: those of flags, and for other elements the defaults in
 * config.toml, of the project if `projekt` is among the flags, else of the profile.
 * @param flags `element=value`
 * @throws UsageError for another form, an unknown element, one that is given twice or that differs
 * for each find; ConfigError where config.toml has invalid defaults, or no profile is chosen
 */
export function listPrefilledValues(context: Context, flags: readonly string[] = []): FindDefaults {
  const set = parseFixedValues(flags);
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

/**
 * Opens the function that offers terms of the harvested vocabularies, and own terms, to a person.
 * @throws ConfigError where no profile is chosen; DatabaseError where the vocabulary is unusable
 */
export async function openTermOffers(context: Context): Promise<OfferTerms> {
  const { makeTermOfferer } = await import('../interview/answer.ts');
  return makeTermOfferer({
    vocabulary: await openProfileVocabulary(context),
    mapping: await readMappingFile(context.places.mappingFile),
  });
}

/**
 * Makes the functions that inspect photographs and store them in the profile's outbox, as its
 * settings say: up to `photo_max_bytes`, and without their places if `strip_gps` is set.
 * @throws ConfigError where no profile is chosen
 */
export function makePhotographKeepingOfProfile(context: Context): PhotographKeeping {
  const { photoMaxBytes, stripGps } = context.getProfile();
  const { photosFolder } = context.getOutboxPlaces();
  return makePhotographKeeping(photosFolder, { maxBytes: photoMaxBytes, stripGps });
}

/**
 * Returns the folder for the schema of the profile's own service, in place of the bundled one; it
 * is named after the address of the schema, and need not exist.
 */
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
      const kept = readKeptSchema(getOwnSchemaFolder(context, profile));
      return kept && { url: getSchemaLocation(profile), bytes: kept.bytes };
    } catch (thrown) {
      if (!(thrown instanceof ConfigError)) throw thrown;
      const hint = thrown.hint ?? '';
      context.terminal.warn(t`${thrown.message} The bundled schema is used. ${hint}`);
      return undefined;
    }
  };
}

/**
 * Lists the identifiers of vocabulary entries in the museum's mapping, and in finds that are
 * neither accepted nor dropped. An outbox that does not exist is not created.
 * @throws DatabaseError where the outbox is unusable
 */
export async function listTermIdsInUse(context: Context): Promise<ReadonlySet<string>> {
  const { rows } = await readMappingFile(context.places.mappingFile);
  const hasOutbox = existsSync(context.getOutboxPlaces().outboxFile);
  const queued = hasOutbox ? listIdentifiersOfUnacceptedFinds(await context.openOutbox()) : [];
  return new Set([...rows.map((row) => row.id), ...queued]);
}

/** Options that replace the detection of a table's form. */
export type TableOptions = {
  readonly sheet?: string;
  readonly encoding?: string;
  readonly headerRow?: string;
};

/**
 * Reads a table from a file, a folder of forms from a phone, or standard input for `-`, which can
 * be read only once. Rows that cannot be read are issues of the table.
 * @param options.photos folder in which file names of photographs are looked up; by default that of
 * the table
 * @throws FileError where the table cannot be read; UsageError for invalid rows of the header
 */
export async function readTableOrInput(
  context: Context,
  file: string,
  { sheet, encoding, headerRow, photos }: TableOptions & { readonly photos?: string } = {},
): Promise<Table> {
  const options = {
    sheet,
    encoding,
    photoFolder: photos === undefined ? undefined : resolve(photos),
    headerRows: headerRow === undefined ? undefined : parseHeaderRows(headerRow),
  };
  if (file !== '-') return readTable(file, options);
  const [name, bytes] = await readFileOrInput(context, file);
  return parseTableBytes(name, bytes, options);
}

/**
 * Reads a file, or standard input for `-`; returns its name in messages, and its content.
 * @throws FileError where it cannot be read or is too large
 */
export async function readFileOrInput(
  { streams }: Context,
  file: string,
): Promise<[name: string, bytes: Buffer]> {
  if (file !== '-') return [file, await readInputFile(file)];
  return [t`standard input`, await readPipe(t`standard input`, streams.stdin)];
}

/**
 * Reads a column map from a file, or standard input for `-`, and checks it, also its values for all
 * finds by `lookupTerm`.
 * @throws UsageError where the map has any issue, after printing all of them; FileError where it
 * cannot be read
 */
export async function readColumnMap(
  context: Context,
  mapFile: string,
  lookupTerm: LookupTerm,
): Promise<ColumnMap> {
  const [file, bytes] = await readFileOrInput(context, mapFile);
  const { parseCheckedColumnMap } = await import('../../tables/columns/column-map.ts');
  const { map, issues } = parseCheckedColumnMap(file, bytes, lookupTerm);
  if (map !== undefined) return map;
  printIssues(context.terminal, issues, context.terminal.warn);
  const faults = issues.length;
  throw new UsageError(t`${file} has errors (${faults}). Nothing was imported.`, {
    hint: t`Correct the file, or create it again: ${cmd`pas import`} TABLE --wizard`,
  });
}
