import { join } from 'node:path';
import { makeDatabaseBytes } from '../../base/disk/database-file.ts';
import { writeOutputFolder } from '../../base/disk/output-file.ts';
import { t } from '../../base/message.ts';
import type { TargetState } from '../../finds/fields.ts';
import {
  FINDS_LAYER,
  FORM_FIND,
  FORM_PHOTO,
  getFormLabel,
  PHOTOS_LAYER,
} from '../../finds/questions.ts';
import { findRoleRank } from '../../finds/value-rules.ts';
import {
  addLayer,
  fillQgisTemplate,
  type GpkgColumn,
  initializeGeoPackage,
  type LayerColumn,
  makeLayerTemplateValues,
  type QgisLayer,
  renderPointStyle,
} from '../exports/gpkg-layers.ts';
import { FORM_FILE } from '../readers.ts';
import {
  type FieldFormRequest,
  type FormLists,
  makeFormDefaults,
  makeFormLists,
} from './form-lists.ts';
import {
  type FormContent,
  getLayerId,
  getListLayerName,
  LISTS_FILE,
  makeFindLayerColumns,
  makeFormTabs,
  PHOTO_RELATION,
} from './qfield-form.ts';

/**
 * Writes a folder with a project for QGIS and QField that needs no network: the form of a find with
 * its photographs, and the lists of its choices. The folder appears under its name only when all of
 * it is on disk.
 * @returns paths of the files that must be copied to the phone, the project first
 * @throws UsageError where a vocabulary was not harvested, or the folder exists: it may have
 * collected data; FileError where the path is not writable; DatabaseError where the disk is full
 */
export async function writeQfieldProject(request: FieldFormRequest): Promise<readonly string[]> {
  const { destination, vocabulary, rules, nowMs } = request;
  const nowIso = new Date(nowMs).toISOString();
  const lists = makeFormLists(vocabulary, rules);
  const states: readonly TargetState[] = findRoleRank(rules) === 'researcher' ? [1] : [1, 2, 3];
  const content = { lists, states, ...makeFormDefaults(request, lists) };
  const columns = makeFindLayerColumns(content);
  const files = new Map([
    [PROJECT_FILE, Buffer.from(renderProject(makeLayers(columns, content)))],
    [FORM_FILE, makeFindsFile(columns, nowIso)],
    [LISTS_FILE, makeListsFile(lists, nowIso)],
  ]);
  writeOutputFolder(destination, { files, folders: [PHOTO_FOLDER] });
  return [...files.keys()].map((name) => join(destination, name));
}

function renderProject(layers: readonly QgisLayer[]): string {
  return fillQgisTemplate('project.xml', {
    title: t`Finds`,
    theme: t`Field, without a network`,
    listGroup: t`Lists`,
    attachments: PHOTO_FOLDER,
    photoRelation: PHOTO_RELATION,
    photographs: t`Photographs`,
    finds: getLayerId(FINDS_LAYER),
    photos: getLayerId(PHOTOS_LAYER),
    layers: layers.map(makeLayerTemplateValues),
  });
}

function makeLayers(
  columns: ReturnType<typeof makeFindLayerColumns>,
  content: FormContent,
): QgisLayer[] {
  const called = `coalesce(represent_value("druh_nalezu"), '?') || ' ' || coalesce(format_date("datum_nalezu", 'd. M.'), '')`;
  const finds: QgisLayer = {
    id: getLayerId(FINDS_LAYER),
    title: t`Finds`,
    file: FORM_FILE,
    table: FINDS_LAYER,
    geometry: 'Point',
    columns,
    called,
    form: makeFormTabs(columns),
    style: renderPointStyle('stav', [ALL], called),
    settings: COPIED,
  };
  const listLayers = [...content.lists.keys()].map((name) =>
    makeListsLayer(getListLayerName(name)),
  );
  return [finds, makePhotosLayer(), ...listLayers];
}

/** The category of all points: an empty value stands for any. */
const ALL = { value: '', label: '', colour: '253,191,111,255' } as const;

function makePhotosLayer(): QgisLayer {
  return {
    id: getLayerId(PHOTOS_LAYER),
    title: t`Photographs`,
    file: FORM_FILE,
    table: PHOTOS_LAYER,
    called: `"${FORM_PHOTO}"`,
    columns: [
      { name: FORM_FIND, type: 'text', label: t`Find`, widget: { kind: 'Hidden', settings: {} } },
      {
        name: FORM_PHOTO,
        type: 'text',
        label: String(getFormLabel(FORM_PHOTO)),
        widget: { kind: 'ExternalResource', settings: ATTACHMENT },
        mustBeFilled: true,
      },
    ],
    settings: {
      ...COPIED,
      'QFieldSync/attachment_naming': JSON.stringify({ [FORM_PHOTO]: PHOTO_NAME }),
    },
  };
}

/** Makes the layer of a list, which the phone only reads: identifiers and labels. */
function makeListsLayer(table: string): QgisLayer {
  return {
    id: getLayerId(table),
    title: table,
    file: LISTS_FILE,
    table,
    called: '"label"',
    isList: true,
    settings: COPIED,
    columns: LIST_COLUMNS,
  };
}

/** Copied to the phone and back unchanged, with all its layers. */
const COPIED = { 'QFieldSync/action': 'copy', 'QFieldSync/cloud_action': 'no_action' };

/** Widget for a picture in a file beside the project, by relative path. */
const ATTACHMENT = {
  DocumentViewer: 1,
  DocumentViewerHeight: 0,
  DocumentViewerWidth: 0,
  FileWidget: true,
  FileWidgetButton: true,
  FileWidgetFilter: '',
  RelativeStorage: 1,
  DefaultRoot: '',
  StorageMode: 0,
  StorageType: '',
};

/** Folder in which QField stores photographs, beside the GeoPackage. */
const PHOTO_FOLDER = 'DCIM';
const PHOTO_NAME = `'${PHOTO_FOLDER}/' || substr("${FORM_FIND}", 1, 8) || '_' || format_date(now(), 'yyyyMMddhhmmsszzz') || '.{extension}'`;

const PROJECT_FILE = 'finds.qgs';

const PHOTO_COLUMNS = makeTextColumns(FORM_FIND, FORM_PHOTO);
const LIST_COLUMNS = makeTextColumns('id', 'label');

function makeTextColumns(...names: readonly string[]): readonly GpkgColumn[] {
  return names.map((name) => ({ name, type: 'text' }));
}

/** Makes the GeoPackage that collects finds and the paths of their photographs. */
function makeFindsFile(columns: readonly LayerColumn[], nowIso: string): Buffer {
  return makeDatabaseBytes((database) => {
    initializeGeoPackage(database);
    addLayer(database, { table: FINDS_LAYER, columns, geometry: 'POINT', nowIso }, []);
    addLayer(database, { table: PHOTOS_LAYER, columns: PHOTO_COLUMNS, nowIso }, []);
  });
}

/** Makes the GeoPackage of read-only data: a layer for each list. */
function makeListsFile(lists: FormLists, nowIso: string): Buffer {
  return makeDatabaseBytes((database) => {
    initializeGeoPackage(database);
    for (const [element, choices] of lists) {
      const rows = choices.map(({ name, label }) => ({ values: [name, label] }));
      const table = getListLayerName(element);
      addLayer(database, { table, columns: LIST_COLUMNS, nowIso }, rows);
    }
  });
}
