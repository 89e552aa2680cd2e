import type { XmlNode } from '../xml/write-xml.ts';
import { buildXml } from '../xml/write-xml.ts';
import type { QgisLayer, Relation } from './layer.ts';
import { layerNode, sourceOf, systemNode } from './layer-node.ts';

type QgisProject = {
  readonly title: string;
  /** From the topmost down; lists are in a group of their own. */
  readonly layers: readonly QgisLayer[];
  readonly relations: readonly Relation[];
  /** Map theme of all layers with a geometry; they are files beside the project, so it needs no network. */
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
export function projectFile(project: QgisProject): Buffer {
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
      { name: 'layerorder', content: layers.map(({ id }) => ({ name: 'layer', attributes: { id } })) },
      propertiesNode(project),
      { name: 'visibility-presets', content: [themeNode(project)] },
    ],
  });
}

function layerTree({ layers, listGroup }: QgisProject): XmlNode {
  const node = (layer: QgisLayer): XmlNode => ({
    name: 'layer-tree-layer',
    attributes: {
      ...{ id: layer.id, name: layer.title, source: sourceOf(layer), providerKey: 'ogr' },
      ...{ checked: 'Qt::Checked', expanded: layer.isList === true ? '0' : '1' },
    },
  });
  const group = {
    name: 'layer-tree-group',
    attributes: { name: listGroup, checked: 'Qt::Checked', expanded: '0' },
    content: layers.filter(({ isList }) => isList === true).map(node),
  };
  return { name: 'layer-tree-group', content: [...layers.filter(({ isList }) => isList !== true).map(node), group] };
}

function relationNode({ id, name, parent, parentColumn, child, childColumn }: Relation): XmlNode {
  return {
    name: 'relation',
    attributes: { id, name, referencedLayer: parent, referencingLayer: child, strength: 'Composition' },
    content: [{ name: 'fieldRef', attributes: { referencedField: parentColumn, referencingField: childColumn } }],
  };
}

function canvasNode(extent: readonly number[]): XmlNode {
  const bounds = ['xmin', 'ymin', 'xmax', 'ymax'].map((name, index) => ({ name, content: String(extent[index]) }));
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
      { name: 'Paths', content: [{ name: 'Absolute', attributes: { type: 'bool' }, content: 'false' }] },
      { name: 'qfieldsync', content: [{ name: 'attachmentDirs', attributes: { type: 'QStringList' }, content: values }] },
    ],
  };
}

function themeNode({ theme, layers }: QgisProject): XmlNode {
  const shown = layers.filter(({ geometry }) => geometry !== undefined);
  return {
    name: 'visibility-preset',
    attributes: { name: theme },
    content: shown.map(({ id }) => ({ name: 'layer', attributes: { id, style: 'default', visible: '1', expanded: '1' } })),
  };
}
