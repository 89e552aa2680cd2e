import { buildXml, type XmlNode } from '../xml/write-xml.ts';
import {
  type FormPart,
  type LayerColumn,
  optionNode,
  type QgisLayer,
  type Relation,
} from './layer.ts';

type QgisProject = {
  readonly title: string;
  /** From the topmost down; lists are in a group of their own. */
  readonly layers: readonly QgisLayer[];
  readonly relations: readonly Relation[];
  /**
   * Map theme of all layers with a geometry; they are files beside the project, so it needs no
   * network.
   */
  readonly theme: string;
  readonly listGroup: string;
  /** Initial extent of the map in S-JTSK: min x, min y, max x, max y. */
  readonly extent?: readonly [number, number, number, number];
  /** Attachment folders for QFieldSync and QFieldCloud. */
  readonly attachments: readonly string[];
};

/** Oldest version that reads the project; QField uses this or a newer one. */
const QGIS_VERSION = '3.22.0-Białowieża';

/** Writes a `.qgs` project with a map in S-JTSK. */
export function makeProjectFile(project: QgisProject): Buffer {
  const { title, layers, relations, extent } = project;
  return buildXml({
    name: 'qgis',
    attributes: { projectname: title, version: QGIS_VERSION },
    content: [
      { name: 'homePath', attributes: { path: '' } },
      { name: 'title', content: title },
      { name: 'projectCrs', content: [systemNode(5514)] },
      layerTree(project),
      { name: 'relations', content: relations.map(relationNode) },
      ...(extent === undefined ? [] : [canvasNode(extent)]),
      { name: 'projectlayers', content: layers.map(layerNode) },
      {
        name: 'layerorder',
        content: layers.map(({ id }) => ({ name: 'layer', attributes: { id } })),
      },
      propertiesNode(project),
      { name: 'visibility-presets', content: [themeNode(project)] },
    ],
  });
}

function layerTree({ layers, listGroup }: QgisProject): XmlNode {
  const node = (layer: QgisLayer): XmlNode => ({
    name: 'layer-tree-layer',
    attributes: {
      ...{ id: layer.id, name: layer.title, source: makeSource(layer), providerKey: 'ogr' },
      ...{ checked: 'Qt::Checked', expanded: layer.isList === true ? '0' : '1' },
    },
  });
  const group = {
    name: 'layer-tree-group',
    attributes: { name: listGroup, checked: 'Qt::Checked', expanded: '0' },
    content: layers.filter(({ isList }) => isList === true).map(node),
  };
  return {
    name: 'layer-tree-group',
    content: [...layers.filter(({ isList }) => isList !== true).map(node), group],
  };
}

function relationNode({ id, name, parent, parentColumn, child, childColumn }: Relation): XmlNode {
  return {
    name: 'relation',
    attributes: {
      id,
      name,
      referencedLayer: parent,
      referencingLayer: child,
      strength: 'Composition',
    },
    content: [
      {
        name: 'fieldRef',
        attributes: { referencedField: parentColumn, referencingField: childColumn },
      },
    ],
  };
}

function canvasNode(extent: readonly number[]): XmlNode {
  const bounds = ['xmin', 'ymin', 'xmax', 'ymax'].map((name, index) => ({
    name,
    content: String(extent[index]),
  }));
  return {
    name: 'mapcanvas',
    attributes: { name: 'theMapCanvas', annotationsVisible: '1' },
    content: [
      { name: 'units', content: 'meters' },
      { name: 'extent', content: bounds },
      { name: 'rotation', content: '0' },
      { name: 'destinationsrs', content: [systemNode(5514)] },
    ],
  };
}

function propertiesNode({ attachments }: QgisProject): XmlNode {
  const values = attachments.map((content) => ({ name: 'value', content }));
  return {
    name: 'properties',
    content: [
      {
        name: 'Paths',
        content: [{ name: 'Absolute', attributes: { type: 'bool' }, content: 'false' }],
      },
      {
        name: 'qfieldsync',
        content: [{ name: 'attachmentDirs', attributes: { type: 'QStringList' }, content: values }],
      },
    ],
  };
}

function themeNode({ theme, layers }: QgisProject): XmlNode {
  const shown = layers.filter(({ geometry }) => geometry !== undefined);
  return {
    name: 'visibility-preset',
    attributes: { name: theme },
    content: shown.map(({ id }) => ({
      name: 'layer',
      attributes: { id, style: 'default', visible: '1', expanded: '1' },
    })),
  };
}

type KnownColumn = Partial<LayerColumn> & { readonly name: string };

/**
 * Writes a layer of a project for QGIS 3.22 and newer (their `.qgs` format has no published
 * schema).
 */
function layerNode(layer: QgisLayer): XmlNode {
  const {
    id,
    title,
    geometry,
    isReadOnly,
    isList = false,
    computed = [],
    style = [],
    settings = {},
  } = layer;
  const columns: readonly KnownColumn[] = [
    { name: 'fid', widget: { kind: 'Hidden', settings: {} } },
    ...layer.columns,
    ...computed.map(({ name, label }) => ({ name, label })),
  ];
  const attributes = {
    ...{
      type: 'vector',
      geometry: geometry === undefined ? 'No geometry' : geometry === 'Point' ? 'Point' : 'Polygon',
    },
    ...{
      wkbType: geometry ?? 'NoGeometry',
      readOnly: isReadOnly === true ? '1' : '0',
      styleCategories: 'AllStyleCategories',
    },
    labelsEnabled: style.some(({ name }) => name === 'labeling') ? '1' : '0',
  };
  return {
    name: 'maplayer',
    attributes,
    content: [
      { name: 'id', content: id },
      { name: 'datasource', content: makeSource(layer) },
      { name: 'layername', content: title },
      ...(geometry === undefined ? [] : [{ name: 'srs', content: [systemNode(4326)] }]),
      { name: 'provider', attributes: { encoding: 'UTF-8' }, content: 'ogr' },
      {
        name: 'expressionfields',
        content: computed.map(({ name, expression }) => ({
          name: 'field',
          attributes: {
            name,
            expression,
            type: '10',
            typeName: 'string',
            length: '0',
            precision: '0',
            subType: '0',
            comment: '',
          },
        })),
      },
      {
        name: 'map-layer-style-manager',
        attributes: { current: 'default' },
        content: [{ name: 'map-layer-style', attributes: { name: 'default' } }],
      },
      {
        name: 'flags',
        content: Object.entries({
          Identifiable: !isList,
          Removable: false,
          Searchable: !isList,
          Private: isList,
        }).map(([name, is]) => ({ name, content: is ? '1' : '0' })),
      },
      ...style,
      { name: 'customproperties', content: [optionNode(settings)] },
      ...columnNodes(columns, new Set(computed.map(({ name }) => name))),
      ...formNodes(layer, columns),
      { name: 'previewExpression', content: layer.called ?? '' },
    ],
  };
}

function makeSource({ file, table }: QgisLayer): string {
  return `./${file}|layername=${table}`;
}

/** QGIS completes the definition of a system from its code. */
function systemNode(epsg: 4326 | 5514): XmlNode {
  const isDegrees = epsg === 4326;
  return {
    name: 'spatialrefsys',
    content: Object.entries({
      ...{
        srid: String(epsg),
        authid: `EPSG:${epsg}`,
        description: isDegrees ? 'WGS 84' : 'S-JTSK / Krovak East North',
      },
      geographicflag: String(isDegrees),
    }).map(([name, content]) => ({ name, content })),
  };
}

function columnNodes(columns: readonly KnownColumn[], computed: ReadonlySet<string>): XmlNode[] {
  const each = (
    name: string,
    makeAttributes: (column: KnownColumn, index: number) => Readonly<Record<string, string>>,
  ): XmlNode[] =>
    columns.map((column, index) => ({ name, attributes: makeAttributes(column, index) }));
  const strength = (is: boolean): string => (is ? '1' : '0');
  return [
    {
      name: 'fieldConfiguration',
      content: columns.map(({ name, widget }) => ({
        name: 'field',
        attributes: { name, configurationFlags: 'None' },
        content: [
          {
            name: 'editWidget',
            attributes: { type: widget?.kind ?? 'TextEdit' },
            content: [{ name: 'config', content: [optionNode(widget?.settings ?? {})] }],
          },
        ],
      })),
    },
    {
      name: 'aliases',
      content: each('alias', ({ name, label = '' }, index) => ({
        field: name,
        index: String(index),
        name: label,
      })),
    },
    {
      name: 'defaults',
      content: each('default', ({ name, initially = '' }) => ({
        field: name,
        expression: initially,
        applyOnUpdate: '0',
      })),
    },
    {
      name: 'constraints',
      content: each('constraint', (column) => {
        const [notNull, unique] = [
          column.mustBeFilled === true || column.name === 'fid',
          column.mustBeUnique === true || column.name === 'fid',
        ];
        const expression = column.constraint !== undefined;
        return {
          ...{
            field: column.name,
            constraints: String(Number(notNull) + 2 * Number(unique) + 4 * Number(expression)),
          },
          ...{
            notnull_strength: strength(notNull),
            unique_strength: strength(unique),
            exp_strength: strength(expression),
          },
        };
      }),
    },
    {
      name: 'constraintExpressions',
      content: each('constraint', ({ name, constraint }) => ({
        ...{ field: name, exp: constraint?.expression ?? '', desc: constraint?.description ?? '' },
      })),
    },
    {
      name: 'editable',
      content: each('field', ({ name, isFixed }) => ({
        name,
        editable: isFixed === true || computed.has(name) ? '0' : '1',
      })),
    },
    {
      name: 'reuseLastValue',
      content: each('field', ({ name, staysForNext }) => ({
        name,
        reuseLastValue: staysForNext === true ? '1' : '0',
      })),
    },
  ];
}

function formNodes({ form }: QgisLayer, columns: readonly KnownColumn[]): XmlNode[] {
  if (form === undefined) return [{ name: 'editorlayout', content: 'generatedlayout' }];
  const partNode = (part: FormPart, depth: number): XmlNode => {
    if ('column' in part) {
      const index = columns.findIndex(({ name }) => name === part.column);
      return {
        name: 'attributeEditorField',
        attributes: { name: part.column, index: String(index), showLabel: '1' },
      };
    }
    if ('relation' in part) {
      const { relation, label } = part;
      return {
        name: 'attributeEditorRelation',
        attributes: {
          name: relation,
          relation,
          label,
          showLabel: '1',
          nmRelationId: '',
          relationWidgetTypeId: 'relation_editor',
        },
      };
    }
    const { group, shownIf, parts } = part;
    const shown = {
      visibilityExpressionEnabled: shownIf === undefined ? '0' : '1',
      visibilityExpression: shownIf ?? '',
    };
    return {
      name: 'attributeEditorContainer',
      attributes: {
        name: group,
        columnCount: '1',
        showLabel: '1',
        groupBox: depth === 0 ? '0' : '1',
        ...shown,
      },
      content: parts.map((each) => partNode(each, depth + 1)),
    };
  };
  return [
    { name: 'editorlayout', content: 'tablayout' },
    { name: 'attributeEditorForm', content: form.map((tab) => partNode(tab, 0)) },
  ];
}
