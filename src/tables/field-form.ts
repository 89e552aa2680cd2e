import type { ColumnName } from '../find/fields.ts';
import type { WrittenElement } from '../find/form-names.ts';

/** Layers and tables of a form for phones; FORM_TABLE describes the meaning of its columns. */
export const FINDS_LAYER = 'finds';
export const PHOTOS_LAYER = 'photos';
export const FORM_TABLE = 'pas_form';

/** Meaning of a form column: a table column, a typed value, a filter of a list, or the find and file of a photograph. */
export type FormMeaning = ColumnName | `written_${WrittenElement}` | 'narrows_list' | 'photo_of' | 'photo_file';

/** A row of the table that describes the columns of a form. */
export type FormColumn = { readonly layer: string; readonly column: string; readonly meaning: FormMeaning };

/** GeoPackage of finds in the folder of a form. */
export const FORM_FILE = 'finds.gpkg';

/** Folder in which QField stores photographs, beside the GeoPackage. */
export const PHOTO_FOLDER = 'DCIM';
