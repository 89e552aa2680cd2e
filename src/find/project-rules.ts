import { t } from '../base/language.ts';
import type { Rule } from './rule.ts';

/** Imports go into survey projects alone (contract, "Find import document"; "Authentication", rule 3). */
export const PROJECT_RULES: readonly Rule[] = [
  {
    name: 'survey-project',
    judge({ projekt }, { lookupProject }) {
      if (projekt === undefined || lookupProject === undefined) return [];
      const { id } = projekt;
      const project = lookupProject(id);
      switch (project.kind) {
        case 'found':
          if (project.survey) return [];
          return [
            {
              element: 'projekt',
              message: t`${id} is a project of the type "${project.type}". Finds go into survey projects; name one.`,
            },
          ];
        case 'deleted':
          return [{ element: 'projekt', message: t`${id} was deleted at the service. Name a project that exists.` }];
        case 'unknown':
          // Not every account is shown every project.
          return [
            {
              element: 'projekt',
              warning: true,
              message: t`${id} is not among the harvested projects. Check it for a slip of the pen.`,
            },
          ];
        case 'hidden':
        case 'not-harvested':
          return [];
      }
    },
  },
];
