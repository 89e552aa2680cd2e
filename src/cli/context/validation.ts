import { dirname, join, resolve } from 'node:path';
import { formatLocalDate } from '../../base/clock.ts';
import { ConfigError } from '../../base/errors.ts';
import { isReadable } from '../../base/issue.ts';
import { t } from '../../base/message.ts';
import {
  type DocumentProfile,
  getSchemaLocation,
  openFindSchema,
  type ReadOwnSchema,
} from '../../finds/document.ts';
import { formatReferenceCell } from '../../finds/fields.ts';
import type { Find, LookupTerm } from '../../finds/find.ts';
import { makeReferenceResolver } from '../../finds/resolve-references.ts';
import { type ValidatedFind, validateFind } from '../../finds/rules.ts';
import { findTermByIdent } from '../../finds/vocabulary/terms.ts';
import { readKeptFile } from '../../harvest/update-schema.ts';
import {
  makePhotographKeeping,
  type PhotographKeeping,
} from '../../outbox/changes/kept-photographs.ts';
import { findKnownAccount } from '../../outbox/open-outbox.ts';
import {
  type FindDefaults,
  mergeDefaults,
  parseDefaults,
  parseFixedValues,
} from '../../tables/columns/settings.ts';
import {
  chooseLabel,
  type FormatReference,
  type LabelLookup,
} from '../../tables/exports/exported-find.ts';
import { makeMappedLookup } from '../../tables/own-terms/mapping.ts';
import type { AddingSources } from '../interview/add-find.ts';
import type { FinderSource } from '../interview/answer.ts';
import type { Context } from './context.ts';
import { openLookups, openProfileVocabulary } from './open-service.ts';
import { readMappingFile } from './user-files.ts';

/**
 * Opens everything for the validation: the profile's schema, the account as the service last
 * described it, the harvested vocabularies with the museum's mapping, and the day. Nothing is
 * requested.
 * @throws ConfigError where the schema cannot be used
 */
export async function openValidationContext(context: Context) {
  const profile = context.getProfile();
  const schema = await openFindSchema(profile, makeOwnSchemaReader(context));
  const lookups = await openLookups(context);
  const lookupTerm = makeMappedLookup(lookups.lookupTerm, await readMappingFile(context));
  const account = findKnownAccount(await context.openOutbox());
  const who =
    account === undefined ? {} : { role: account.role, organisation: account.organisation };
  return { schema, ...lookups, lookupTerm, today: formatLocalDate(context.clock.now()), ...who };
}

/**
 * Asks on a terminal which of several people a finder is. Returns the data with a lookup that
 * knows the answers, which apply to this command; unchanged without a terminal or with `--json`.
 */
export async function askAboutFinders<Known extends { readonly lookupTerm: LookupTerm }>(
  context: Context,
  ruleContext: Known,
  named: FinderSource,
): Promise<Known> {
  if (!context.terminal.interactive || context.terminal.json) return ruleContext;
  const { askWhoFindersAre, collectFinders } = await import('../interview/answer.ts');
  const lookupTerm = await askWhoFindersAre(
    collectFinders(named),
    ruleContext.lookupTerm,
    await context.prompt(),
  );
  return { ...ruleContext, lookupTerm };
}

/**
 * Opens the lookup of the labels of vocabulary entries, which are cached, since finds repeat
 * them.
 */
export async function openLabels(context: Context): Promise<LabelLookup> {
  const vocabulary = await openProfileVocabulary(context);
  const labelsById = new Map<string, ReturnType<LabelLookup>>();
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
 * Makes the function that formats references for a table: the label in the language of the
 * output, if `pas import` reads the same entry from it, else the identifier.
 */
export async function openReferenceFormatter(
  context: Context,
  getLabels: LabelLookup,
): Promise<FormatReference> {
  const { lookupTerm } = await openLookups(context);
  const resolve = makeReferenceResolver(
    makeMappedLookup(lookupTerm, await readMappingFile(context)),
  );
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
 * Makes the function that validates a find, which is then fast for many of them. Nothing is
 * stored.
 * @throws ConfigError where the schema cannot be used
 */
export async function openFindValidator(context: Context): Promise<(find: Find) => ValidatedFind> {
  const ruleContext = await openValidationContext(context);
  return (find) => validateFind(find, ruleContext);
}

/**
 * Returns the given values, and behind them the defaults of project and profile for other
 * elements.
 * @param flags `element=value`
 * @throws UsageError for another form, or an element that differs for each find; ConfigError
 * where config.toml has invalid defaults
 */
export function makeProfileDefaults(context: Context, flags: readonly string[] = []): FindDefaults {
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
 * Opens outbox and rules of the profile, for entering finds by hand: file names are relative to the
 * folder of the command.
 * @throws ConfigError where the schema or the outbox cannot be used
 */
export async function openAddingSources(context: Context): Promise<AddingSources> {
  return {
    outbox: await context.openOutbox(),
    ruleContext: await openValidationContext(context),
    keeping: makeProfileKeeping(context),
    folder: context.cwd,
    profile: context.getProfile().name,
    configFile: context.places.configFile,
    defaults: context.getConfig().defaults,
  };
}

/**
 * Opens the vocabulary and the mapping from which terms are suggested, with the width of the
 * terminal.
 */
export async function openOfferSources(context: Context) {
  return {
    vocabulary: await openProfileVocabulary(context),
    mapping: await readMappingFile(context),
    columns: context.streams.stderr.columns ?? 80,
  };
}

/**
 * Makes the functions that inspect and store photographs, as the profile says: up to
 * `photo_max_bytes`, and without their places if `strip_gps` is set.
 */
export function makeProfileKeeping(context: Context): PhotographKeeping {
  const { photoMaxBytes, stripGps } = context.getProfile();
  const { photosFolder } = context.getOutboxPlaces();
  return makePhotographKeeping(photosFolder, { maxBytes: photoMaxBytes, stripGps });
}

/**
 * Returns the absolute folder of photographs: that of the option, else that of the table. It need
 * not exist.
 */
export function resolvePhotoFolder(tablePath: string, option: string | undefined): string {
  return option === undefined ? dirname(resolve(tablePath)) : resolve(option);
}

/**
 * Returns the folder of the schema that was fetched from the profile's own service, named after
 * its address. It need not exist.
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
      return readKeptFile(getOwnSchemaFolder(context, profile));
    } catch (thrown) {
      if (!(thrown instanceof ConfigError)) throw thrown;
      const hint = thrown.hint ?? '';
      context.terminal.warn(t`${thrown.message} The bundled schema is used. ${hint}`);
      return undefined;
    }
  };
}
