import type { ColumnName } from '../find/column-names.ts';
import type { WrittenElement } from '../find/form-names.ts';

/** The names of what a form for the phone keeps finds in, and in what it says itself how its columns are meant. */
export const FINDS_LAYER = 'finds';
export const PHOTOS_LAYER = 'photos';
export const FORM_TABLE = 'pas_form';

/**
 * What a column of a form holds: what a table's column of that name holds; what was written where a list lacks it; what only
 * narrows a list down; and of a photograph its find's `local_id` and its file.
 */
export type FormMeaning = ColumnName | `written_${WrittenElement}` | 'narrows_list' | 'photo_of' | 'photo_file';

/** A row of the table in which a form says how it is meant. */
export type FormColumn = { readonly layer: string; readonly column: string; readonly meaning: FormMeaning };

/** The file of finds in the folder of a form. */
export const FORM_FILE = 'finds.gpkg';

/** Where QField puts photographs, beside the GeoPackage. */
export const PHOTO_FOLDER = 'DCIM';
