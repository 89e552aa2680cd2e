import { refuseExisting } from '../../store/output-file.ts';
import type { FieldMade, FieldRequest } from './make-field.ts';

export async function makeOdkForm({ destination, overwrite }: FieldRequest): Promise<FieldMade> {
  refuseExisting(destination, overwrite);
  return { files: [] };
}
