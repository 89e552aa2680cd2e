import type { XmlNode } from '../xml/write-xml.ts';
import type { OptionValue } from './option-node.ts';

/** What a column is in a GeoPackage, and what edits it in QGIS and QField. */
export type LayerColumn = {
  readonly name: string;
  readonly type: 'text' | 'integer' | 'date' | 'boolean';
  /** What people read in the form. */
  readonly label?: string;
  readonly widget?: Widget;
  /** Expression of QGIS, which a new feature begins with. */
  readonly initially?: string;
  readonly mustBeFilled?: true;
  readonly mustBeUnique?: true;
  readonly constraint?: Constraint;
  /** The value of the feature before is offered. */
  readonly staysForNext?: boolean;
  readonly isFixed?: true;
};

/** A kind of editor as QGIS calls it, and its settings. */
export type Widget = { readonly kind: string; readonly settings: Readonly<Record<string, OptionValue>> };

/** An expression of QGIS that must hold, and what is said where it does not. */
export type Constraint = { readonly expression: string; readonly description: string };

/** Computed by QGIS when it is shown, and in no file. */
type ComputedColumn = { readonly name: string; readonly label: string; readonly expression: string };

export type FormPart =
  | { readonly column: string }
  | { readonly relation: string; readonly label: string }
  | { readonly group: string; readonly shownIf?: string; readonly parts: readonly FormPart[] };

export type QgisLayer = {
  /** Of more than ten characters: QGIS gives a layer with a shorter one another. */
  readonly id: string;
  readonly title: string;
  /** File beside the project, and table in it. */
  readonly file: string;
  readonly table: string;
  readonly geometry?: 'Point' | 'MultiPolygon';
  readonly columns: readonly LayerColumn[];
  readonly computed?: readonly ComputedColumn[];
  /** The tabs of the form; else QGIS makes one. */
  readonly form?: readonly FormPart[];
  /** How a feature is called: an expression of QGIS. */
  readonly called?: string;
  /** Kept out of the legend, and not edited. */
  readonly isList?: true;
  readonly isReadOnly?: true;
  readonly style?: readonly XmlNode[];
  /** Settings of QFieldSync and QField. */
  readonly settings?: Readonly<Record<string, string>>;
};

export type Relation = {
  readonly id: string;
  readonly name: string;
  readonly parent: string;
  readonly parentColumn: string;
  readonly child: string;
  readonly childColumn: string;
};
