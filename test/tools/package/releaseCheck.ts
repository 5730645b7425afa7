import { readFileSync } from 'node:fs';
import path from 'node:path';
import manifest from '../../../package.json';
import { ROOT } from '../../helpers/n8n/paths';
import { say } from '../../helpers/n8n/terminal';
import { releaseProblems } from './release';

// The publishing workflow runs this file with the tag.
const changelog = readFileSync(path.join(ROOT, 'CHANGELOG.md'), 'utf8');
const problems = releaseProblems(process.argv[2] ?? '', manifest, changelog);
for (const problem of problems) say(problem);
if (problems.length > 0) process.exitCode = 1;
