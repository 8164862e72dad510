<?php
/* After WordPress and its other plugins have had their say. */

if ( ! defined( 'ABSPATH' ) ) {
    exit;
}

function carrel_authenticate( $user, $username, $password ) {
    $is_wrong = is_wp_error( $user ) && 'incorrect_password' === $user->get_error_code();
    if ( ! is_string( $password ) || '' === $password || ! ( $is_wrong || $user instanceof WP_User ) ) {
        return $user;
    }
    $account = $is_wrong ? ( get_user_by( 'login', $username ) ?: get_user_by( 'email', $username ) ) : $user;
    $is_own  = ! $is_wrong && wp_check_password( $password, $account->user_pass, $account->ID );
    if ( ! $account || ( $is_wrong ? ! get_user_meta( $account->ID, 'carrel_pending' ) : ! $is_own ) ) {
        return $user; /* A wrong password; or another secret than the account's, such as an application password. */
    }
    if ( ! carrel_turn( $account->ID ) ) {
        return new WP_Error( 'carrel_busy', 'Your password is being changed. Please try again in a few minutes.' );
    }
    $account = get_user_by( 'id', $account->ID );
    if ( ! $account ) {
        return new WP_Error( 'incorrect_password', 'This account has just been deleted.' );
    }
    $pending = get_user_meta( $account->ID, 'carrel_pending' );
    $matches = fn( $hash ) => wp_check_password( $password, $hash, $account->ID );
    $new     = current( array_filter( $pending, $matches ) );
    if ( ! $new && ! $matches( $account->user_pass ) ) {
        return $is_wrong ? $user : new WP_Error( 'incorrect_password', 'Your password has just been changed.' );
    }
    if ( ! $pending && defined( 'XMLRPC_REQUEST' ) ) {
        return $account; /* Each call of a program authenticates. None of them uses a workspace. */
    }
    $key  = carrel_key_hex( $password, carrel_uuid( $account->ID ) );
    $code = $new ? carrel_rekey( $account->ID, $key ) : '';
    if ( 'open' !== $code ) {
        $code = carrel_open( $account->ID, $key );
    }
    if ( ! $pending ) {
        return $account; /* Also when the workspace stays locked: its page says so. */
    }
    if ( 'open' !== $code ) {
        return new WP_Error( 'carrel_pending', 'Your password was being changed. Please try the other one, or try again later.' );
    }
    carrel_promote( $account->ID, $new ?: $account->user_pass );
    return get_user_by( 'id', $account->ID );
}
add_filter( 'authenticate', 'carrel_authenticate', 100, 3 );

/* The token for the page, or the status of what is the matter: 401 asks for the password, 503 for patience. */
function carrel_token( int $user_id ) {
    if ( get_user_meta( $user_id, 'carrel_pending' ) ) {
        return 401; /* Only a sign-in shows which password counts. */
    }
    $token = get_transient( 'carrel_token_' . $user_id );
    if ( $token ) {
        return $token;
    }
    $code = carrel_session( $user_id, '/auth/refresh' );
    if ( 'open' === $code ) {
        return get_transient( 'carrel_token_' . $user_id );
    }
    return in_array( $code, array( 'key-not-cached', 'user-not-provisioned' ), true ) ? 401 : 503;
}

/* Ends the user's sessions in every browser; the key leaves the service's memory. If it is down, tokens end in an hour. */
add_action( 'wp_logout', function ( $user_id ) {
    delete_transient( 'carrel_token_' . $user_id );
    carrel_call( 'POST', '/auth/logout', array( 'uuid' => carrel_uuid( $user_id ) ), 3 );
} );
