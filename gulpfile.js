const esbuild = require('esbuild');
const { dest, parallel, series, src, watch } = require('gulp');
const { spawn } = require('node:child_process');
const { Transform } = require('node:stream');
const { rimraf } = require('rimraf');
const manifest = require('./package.json');

const ICONS = 'nodes/**/*.svg';
const CODEX = 'nodes/**/*.node.json';
/** What the editor shows of an output before the node has run. */
const PREVIEWS = 'nodes/**/__schema__/**/*.json';

/** The libraries behind the files of vendor/, and what of each has to go along with a copy of it. */
const LIBRARIES = [
	{ file: 'qrCode', library: '@juit/qrcode', notices: ['LICENSE.md', 'NOTICE.md'] },
	{ file: 'checkDigits', library: 'cpf-cnpj-validator', notices: ['LICENSE'] },
];

/** The address that stands in the sources until the public one, package.json's homepage, replaces it. */
const ADDRESS_IN_SOURCES = 'https://example.com/n8n-nodes-digital-sales';

/** Writes package.json's homepage wherever the sources name the project's address. */
function withHomepage() {
	return new Transform({
		objectMode: true,
		transform(file, _encoding, done) {
			const text = file.contents.toString().replaceAll(ADDRESS_IN_SOURCES, manifest.homepage);
			file.contents = Buffer.from(text);
			done(null, file);
		},
	});
}

const clean = () => rimraf('dist');

const compile = () => tsc();

const icons = () => src(ICONS, { base: '.', encoding: false }).pipe(dest('dist'));

const codex = () => src(CODEX, { base: '.' }).pipe(withHomepage()).pipe(dest('dist'));

const previews = () => src(PREVIEWS, { base: '.' }).pipe(dest('dist'));

const links = () =>
	src('dist/credentials/*.js', { base: '.' }).pipe(withHomepage()).pipe(dest('.'));

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

function tsc(...options) {
	const program = require.resolve('typescript/bin/tsc');
	return spawn(process.execPath, [program, '-p', 'tsconfig.build.json', ...options], {
		stdio: 'inherit',
	});
}

function watchAll() {
	watch(ICONS, icons);
	watch(CODEX, codex);
	watch(PREVIEWS, previews);
	return tsc('--watch', '--preserveWatchOutput');
}

exports.build = series(
	clean,
	parallel(
		series(compile, parallel(links, ...LIBRARIES.map(bundle))),
		...LIBRARIES.map(license),
		icons,
		codex,
		previews,
	),
);
exports.dev = series(exports.build, watchAll);
exports.default = exports.build;
