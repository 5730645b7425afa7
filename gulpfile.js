const esbuild = require('esbuild');
const { dest, parallel, series, src } = require('gulp');
const { spawn } = require('node:child_process');
const { rm } = require('node:fs/promises');

/** Icons, codex files, and what the editor shows of an output before the node has run. */
const FILES = ['nodes/**/*.svg', 'nodes/**/*.node.json', 'nodes/**/__schema__/**/*.json'];

/** The libraries behind the files of vendor/, and what of each has to go along with a copy of it. */
const LIBRARIES = [
	{ file: 'qrCode', library: '@juit/qrcode', notices: ['LICENSE.md', 'NOTICE.md'] },
	{ file: 'checkDigits', library: 'cpf-cnpj-validator', notices: ['LICENSE'] },
];

const clean = () => rm('dist', { recursive: true, force: true });

// Types are what `npm run lint` checks; without the libraries: to read them takes as long as the rest.
const compile = () =>
	spawn(
		process.execPath,
		[
			require.resolve('typescript/bin/tsc'),
			...['-p', 'tsconfig.build.json', '--noCheck', '--noResolve'],
		],
		{ stdio: 'inherit' },
	);

const files = () => src(FILES, { base: '.', encoding: false }).pipe(dest('dist'));

/** Nothing is installed beside the package, so the libraries that it needs stand in it. */
const bundle = ({ file, library }) =>
	named(`bundle ${library}`, () =>
		esbuild.build({
			entryPoints: [`vendor/${file}.ts`],
			outfile: `dist/vendor/${file}.js`,
			bundle: true,
			platform: 'node',
			format: 'cjs',
			target: 'node20',
			banner: { js: `/* ${library}: its license is in the folder ${file} beside this file. */` },
		}),
	);

const license = ({ file, library, notices }) =>
	named(`license of ${library}`, () =>
		src(notices, { cwd: `node_modules/${library}` }).pipe(dest(`dist/vendor/${file}`)),
	);

const named = (displayName, task) => Object.assign(task, { displayName });

exports.build = series(
	clean,
	parallel(series(compile, ...LIBRARIES.map(bundle)), ...LIBRARIES.map(license), files),
);
exports.default = exports.build;
