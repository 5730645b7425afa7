import { notChargedSteps, paymentPage } from './checkout';
import { chargeOrder, orderForm, waitFor } from './parts';
import { output, type Recipe } from './workflow';

/** A link that sells: form, PIX and payment on one page. An offer is all that has to be chosen. */
export const paymentPageRecipe: Recipe = (say) => {
	const form = orderForm(say, say('page', 'pagina'));
	const charge = chargeOrder(say);
	const wait = waitFor(say, charge);
	return {
		name: say('Payment page', 'Página de pagamento'),
		notes: [
			say(
				'## A payment page\nShows the PIX, then that it is paid. Deliver after **Paid** what may come twice.',
				'## Página de pagamento\nMostra o Pix e depois que está pago. Entregue depois de **Paid** o que pode ir duas vezes.',
			),
			say(
				'## Tonight\n1. *Charge by PIX*, *Wait for the payment*: your credential and offer.\n2. **Execute workflow**, order and pay.\n3. **Publish**, and send the **Production URL** of *Order form*.',
				'## Ainda hoje\n1. *Gerar Pix*, *Aguardar o pagamento*: sua credencial e oferta.\n2. **Execute workflow**, peça e pague.\n3. **Publish** e envie a **Production URL** de *Formulário do pedido*.',
			),
		],
		chains: [
			[form, charge, paymentPage(say, charge, wait), wait],
			[output(charge, 1), ...notChargedSteps(say, form, charge)],
		],
	};
};
