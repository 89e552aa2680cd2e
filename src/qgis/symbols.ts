import type { XmlNode } from '../xml/write-xml.ts';
import { optionNode } from './layer.ts';

/** Red, green, blue and opacity, in QGIS's notation. */
type Colour = `${number},${number},${number},${number}`;

/** Colour of each target state. */
export const STATE_COLOURS = { 1: '255,255,255,255', 2: '253,191,111,255', 3: '51,160,44,255' } as const;
const DARK = '35,35,35,255';

type Category = { readonly value: string; readonly label: string; readonly colour: Colour };

/** Styles points with a colour for each value of a column, and `otherwise` for the rest. */
export function pointsByValue(column: string, categories: readonly Category[], otherwise: Category): XmlNode {
  const all = [...categories, otherwise];
  const attributes = { type: 'categorizedSymbol', attr: column, forceraster: '0', symbollevels: '0', enableorderby: '0' };
  const named = all.map(({ value, label }, index) => ({
    name: 'category',
    attributes: { value, label, symbol: String(index), render: 'true' },
  }));
  const symbols = all.map(({ colour }, index) =>
    symbol('marker', index, 'SimpleMarker', {
      ...{ name: 'circle', color: colour, outline_color: DARK, outline_width: '0.4', size: '3.2', size_unit: 'MM' },
    }),
  );
  return {
    name: 'renderer-v2',
    attributes,
    content: [
      { name: 'categories', content: named },
      { name: 'symbols', content: symbols },
    ],
  };
}

/** Styles boundaries without a fill. */
export function outlines(): XmlNode {
  const style = {
    style: 'no',
    outline_color: '120,60,20,255',
    outline_style: 'solid',
    outline_width: '0.4',
    outline_width_unit: 'MM',
  };
  const content = [{ name: 'symbols', content: [symbol('fill', 0, 'SimpleFill', style)] }];
  return {
    name: 'renderer-v2',
    attributes: { type: 'singleSymbol', forceraster: '0', symbollevels: '0', enableorderby: '0' },
    content,
  };
}

function symbol(type: 'marker' | 'fill', index: number, kind: string, style: Readonly<Record<string, string>>): XmlNode {
  const layer = {
    name: 'layer',
    attributes: { class: kind, enabled: '1', locked: '0', pass: '0' },
    content: [optionNode(style)],
  };
  return {
    name: 'symbol',
    attributes: { name: String(index), type, alpha: '1', clip_to_extent: '1', force_rhr: '0' },
    content: [layer],
  };
}

/** Adds a label to each feature. @param expression of QGIS, or the name of a column */
export function labels(expression: string, isExpression: boolean): XmlNode {
  const style = {
    ...{
      fieldName: expression,
      isExpression: isExpression ? '1' : '0',
      fontFamily: 'Sans',
      fontSize: '9',
      fontSizeUnit: 'Point',
    },
    ...{ textColor: DARK, textOpacity: '1', namedStyle: 'Normal', fontWeight: '50' },
  };
  const halo = {
    name: 'text-buffer',
    attributes: {
      bufferDraw: '1',
      bufferSize: '0.8',
      bufferSizeUnits: 'MM',
      bufferColor: '255,255,255,255',
      bufferOpacity: '0.8',
    },
  };
  const settings = {
    name: 'settings',
    attributes: { calloutType: 'simple' },
    content: [{ name: 'text-style', attributes: style, content: [halo] }],
  };
  return { name: 'labeling', attributes: { type: 'simple' }, content: [settings] };
}
