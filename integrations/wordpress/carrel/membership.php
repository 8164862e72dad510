<?php
/* Who is a member: users with a role of the settings, and users with a paid order or subscription of WooCommerce. */

if ( ! defined( 'ABSPATH' ) ) {
    exit;
}

function carrel_membership( int $user_id ): string {
    $user = get_userdata( $user_id );
    $paid = $user && array_intersect( $user->roles, carrel_paid_roles() );
    return apply_filters( 'carrel_membership', $paid ? 'paid' : 'free', $user_id );
}

/* Tell the service. If it is down, the next sign-in of the user tells it. */
function carrel_tell_membership( int $user_id ): void {
    if ( '' !== carrel_made( $user_id ) ) {
        $what           = 'paid' === carrel_membership( $user_id ) ? 'activate' : 'deactivate';
        list( $status ) = carrel_call( 'POST', '/users/' . carrel_uuid( $user_id ) . '/' . $what );
        update_user_meta( $user_id, 'carrel_told', $status < 300 && $status >= 200 ? $what : '' );
    }
}
foreach ( array( 'set_user_role', 'add_user_role', 'remove_user_role' ) as $carrel_hook ) {
    add_action( $carrel_hook, 'carrel_tell_membership' );
}

/* WooCommerce changes no role by itself: a site that sells the membership says which product it is. */
add_filter( 'carrel_membership', function ( $membership, $user_id ) {
    $product = (int) get_option( 'carrel_product', 0 );
    $bought  = $product && function_exists( 'wc_customer_bought_product' ) && wc_customer_bought_product( '', $user_id, $product );
    return $bought ? 'paid' : $membership;
}, 5, 2 );
add_action( 'woocommerce_order_status_changed', function ( $order_id, $from, $to, $order ) {
    if ( $order->get_user_id() ) {
        carrel_tell_membership( $order->get_user_id() );
    }
}, 10, 4 );
